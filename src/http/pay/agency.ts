/** What payers' pages show of the agency that is paid. */
import type { Language } from '../../common/languages.ts';
import type { Config } from '../../config/config.ts';

/** Texts, `''` where there is none. A merchant that is no longer configured has its name alone. */
export function agencyTexts(
  merchants: Config['merchants'],
  { code, name }: { code: string; name: string },
  lang: Language,
) {
  const page = merchants.get(code)?.page;
  const { phone = '', email = '', url = '' } = page?.contact ?? {};
  return {
    agency: page?.names[lang] ?? name,
    logo: page?.logo ?? '',
    phone,
    email,
    website: url.replaceAll('{lang}', lang),
  };
}
