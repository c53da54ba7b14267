/** What payers see of an agency, beside its name: the name in other languages, a logo, and how to reach it. */
import { emailPattern } from '@ledger/kernel/email-address.ts';
import { type Infer, nonempty, object, optional, refine, string } from 'superstruct';

export const agencyPage = {
  names: optional(object({ en: optional(nonempty(string())), ms: optional(nonempty(string())) })),
  logo: optional(nonempty(string())),
  contact: optional(
    object({
      phone: optional(refine(string(), 'digits and hyphens', (text) => /^\+?\d[\d-]{4,20}$/.test(text))),
      email: optional(refine(string(), 'an email address', (text) => emailPattern.test(text))),
      url: optional(refine(string(), 'http:// or https://', (text) => /^https?:\/\/[^\s/]+/.test(text))),
    }),
  ),
};
const AgencyPage = object(agencyPage);

export function agencyPageOf({ names = {}, contact = {} }: Infer<typeof AgencyPage>, logo = '') {
  const { phone = '', email = '', url = '' } = contact;
  return {
    /** Names in other languages, where they differ from `name`, which is recorded with each payment. */
    names,
    /** A `data:` URL, so that a page loads nothing; `''` if there is none. */
    logo,
    /** `''` where there is none; `{lang}` in the URL stands for the page's language. */
    contact: { phone, email, url },
  };
}
