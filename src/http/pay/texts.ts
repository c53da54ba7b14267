/** Everything that templates see as `t`, by language: the texts of payers' pages, of receipts and of the test pages. */
import payEn from '../../../content/texts/pay.en.json' with { type: 'json' };
import payMs from '../../../content/texts/pay.ms.json' with { type: 'json' };
import testPagesEn from '../../../content/texts/test-pages.en.json' with { type: 'json' };
import testPagesMs from '../../../content/texts/test-pages.ms.json' with { type: 'json' };
import type { Language } from '../../common/languages.ts';
import { type ReceiptTexts, texts as receiptTexts } from '../../receipts/texts.ts';

const merged = (receipts: ReceiptTexts, pay: typeof payEn, testPages: typeof testPagesEn) => ({
  ...receipts,
  ...pay,
  ...testPages,
  receipt: { ...receipts.receipt, ...pay.receipt },
});

export type Texts = ReturnType<typeof merged>;

export const texts: Readonly<Record<Language, Texts>> = {
  en: merged(receiptTexts.en, payEn, testPagesEn),
  ms: merged(receiptTexts.ms, payMs, testPagesMs),
};
