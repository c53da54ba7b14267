/** GET /verify/{receipt_no}?c=<check>: confirms a receipt to whoever scans its code. Says nothing about who paid. */
import type { Payment } from '../events/payment.ts';
import { type Receipt, receiptOf } from '../receipts/receipt.ts';
import { statusName, timeText } from '../receipts/texts.ts';
import { isVerificationCheck, verificationKey, verificationUrl } from '../receipts/verification.ts';
import { type Context, languageOf } from './context.ts';
import type { Dependencies } from './dependencies.ts';
import { HttpProblem } from './errors.ts';
import type { Language } from './pages/language.ts';
import type { VerifyPage } from './pages/models.ts';
import { otherLanguage } from './payer/links.ts';

type Parts = Pick<Dependencies, 'findByReceiptNo' | 'findPayment' | 'log'> & {
  config: Pick<Dependencies['config'], 'baseUrl' | 'transactionIdKey'>;
};

/** A number that does not exist, a check that is wrong and one that is missing get the same answer: 404. */
export function createVerify(parts: Parts) {
  const { baseUrl, transactionIdKey } = parts.config;
  const key = verificationKey(transactionIdKey);
  const find = createFind(parts, key);
  return async (ctx: Context): Promise<void> => {
    const { c: check } = ctx.query;
    const payment = await find(ctx.params.receiptNo ?? '', typeof check === 'string' ? check : '');
    if (payment?.status !== 'succeeded') throw new HttpProblem(404, 'receiptNotFound', 'Receipt not found');
    const receipt = receiptOf(payment);
    await ctx.render(
      'verify.njk',
      verifyPage(receipt, languageOf(ctx), verificationUrl(baseUrl, key, receipt)),
    );
  };
}

function createFind({ findByReceiptNo, findPayment, log }: Parts, key: Buffer) {
  return async (receiptNo: string, check: string): Promise<Payment | undefined> => {
    try {
      const ids = await findByReceiptNo(receiptNo);
      const id = ids.find((transactionId) => isVerificationCheck(key, { receiptNo, transactionId }, check));
      return id === undefined ? undefined : (await findPayment(id))?.state;
    } catch (error) {
      log.warn({ err: error }, 'a receipt cannot be looked up in Postgres');
      throw new HttpProblem(503, 'unavailable', 'Receipts cannot be checked at the moment');
    }
  };
}

function verifyPage(receipt: Receipt, lang: Language, url: string): VerifyPage {
  return {
    lang,
    otherLanguageUrl: `${url}&lang=${otherLanguage(lang)}`,
    status: statusName(receipt.status),
    agency: receipt.agency,
    receiptNo: receipt.receiptNo,
    dateTime: timeText(receipt.at, lang),
    total: receipt.total,
  };
}
