/** Everything that templates see as `t`, by language: the texts of payers' pages and of the test pages. */
import { testPageTexts } from './generic/test-page-texts.ts';
import { texts } from './pay/texts.ts';

export const viewTexts = {
  en: { ...texts.en, ...testPageTexts.en },
  ms: { ...texts.ms, ...testPageTexts.ms },
};
