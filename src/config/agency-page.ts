/** What payers see of an agency, beside its name: the name in other languages, a logo, and how to reach it. */
import { readFileSync } from 'node:fs';
import { emailPattern } from '@ledger/kernel/email-address.ts';
import { type Infer, nonempty, object, optional, pattern, string } from 'superstruct';

export const agencyPage = {
  names: optional(object({ en: optional(nonempty(string())), ms: optional(nonempty(string())) })),
  logo: optional(nonempty(string())),
  contact: optional(
    object({
      phone: optional(pattern(string(), /^\+?\d[\d-]{4,20}$/)),
      email: optional(pattern(string(), emailPattern)),
      url: optional(pattern(string(), /^https?:\/\/[^\s/]+/)),
    }),
  ),
};
const AgencyPage = object(agencyPage);

export function agencyPageOf({ names = {}, contact = {} }: Infer<typeof AgencyPage>, logo = '') {
  const { phone = '', email = '', url = '' } = contact;
  return {
    /** Where it differs from `name`, which is recorded with each payment. */
    names,
    /** A `data:` URL, so that a page loads nothing; `''` if there is none. */
    logo,
    /** `''` where there is none; `{lang}` in the URL stands for the page's language. */
    contact: { phone, email, url },
  };
}

/** A page with a logo stays below 40 KB. */
const maxLogoBytes = 10_240;

const signatures = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['image/svg+xml', /^(?:\xef\xbb\xbf)?\s*(?:<\?xml\s[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<svg[\s>]/s],
] as const;

/** In an image, browsers neither run scripts nor load anything. Opened by itself, an SVG could, so it may hold neither. */
const activeSvg =
  /<!(?!--)|<\?(?!xml\s)|encoding=(?!["']utf-8["'])|<(?:[\w-]+:)?(?:script|foreignObject|animate\w*|set|handler|iframe)\b|\son\w+\s*=|(?:href|src)\s*=\s*["'](?!#)|@import|url\(\s*["']?(?!#)|javascript:/i;

/** The image in `file` as a `data:` URL, or what is wrong with it, in words that follow the file's name. */
export function readLogo(file: string): { url: string } | { fault: string } {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    return { fault: 'must name a file that can be read' };
  }
  const content = bytes.toString('latin1');
  const [type] = signatures.find(([, signature]) => signature.test(content)) ?? [];
  if (!type) return { fault: 'must be an SVG, PNG, JPEG or WebP image' };
  if (bytes.length > maxLogoBytes) return { fault: `must have at most ${maxLogoBytes} bytes` };
  if (type === 'image/svg+xml' && activeSvg.test(content))
    return { fault: 'must be an SVG without scripts, events, animations and references to other files' };
  return { url: `data:${type};base64,${bytes.toString('base64')}` };
}
