/** The languages of everything that payers read. */
export const languages = ['en', 'ms'] as const;
export type Language = (typeof languages)[number];

export const otherLanguage = (lang: Language): Language => (lang === 'en' ? 'ms' : 'en');
