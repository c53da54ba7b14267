// Which language a page is shown in.
import type { Language } from '../../receipts/texts.ts';

export type { Language };

/**
 * The language that `?lang=` names, else the one that Accept-Language prefers, else English.
 * Takes both as received; what it does not know or cannot read it passes over.
 */
export const pickLanguage = (
  queryLang: string | readonly string[] | undefined,
  acceptLanguage: string | undefined,
): Language => {
  if (queryLang === 'en' || queryLang === 'ms') return queryLang;
  let preferred: Language = 'en';
  let highestWeight = 0;
  for (const range of (acceptLanguage ?? '').split(',')) {
    const [tag = '', q] = range.split(';');
    const language = tag.trim().toLowerCase().split('-')[0];
    const weight = q === undefined ? 1 : Number(q.trim().replace(/^q=/i, ''));
    if ((language === 'en' || language === 'ms') && weight > highestWeight) {
      preferred = language;
      highestWeight = weight;
    }
  }
  return preferred;
};
