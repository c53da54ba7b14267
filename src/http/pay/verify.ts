/** GET /verify/{receipt_no}?c=<check>: confirms a receipt to whoever scans its code. Says nothing about who paid. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Payment } from '../../events/payment.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import { payments } from '../../projections/payments/projection.ts';
import type { ProjectionStatus } from '../../projections/runtime/checkpoints.ts';
import { firstUntaken } from '../../projections/runtime/lag.ts';
import { type Receipt, receiptOf } from '../../receipts/receipt.ts';
import { statusName, timeText } from '../../receipts/texts.ts';
import { isVerificationCheck, verificationKey, verificationUrl } from '../../receipts/verification.ts';
import { type Context, languageOf } from '../server/context.ts';
import { HttpProblem } from '../server/errors.ts';
import type { Language } from '../server/language.ts';
import type { PayDependencies } from './dependencies.ts';
import { otherLanguage } from './links.ts';
import type { VerifyPage } from './models.ts';

export type VerifyDependencies = Pick<PayDependencies, 'findPayment' | 'log' | 'runtime'> & {
  /** Ids of the payments in the read model that have this receipt number. Rejects when Postgres is down. */
  findByReceiptNo(receiptNo: string): Promise<readonly string[]>;
  content: { projectionStatus(): Promise<readonly ProjectionStatus[]> };
  eventStore: Pick<EventStore, 'firstAfter'>;
  config: Pick<PayDependencies['config'], 'baseUrl' | 'transactionIdKey'>;
};

/** How long the event store may take to say what is behind. */
const answerWithinMs = 2_000;
/** A projection that runs, however busy, has taken by then what was there before. */
const catchUpMs = 1_000;

/** A number that does not exist, a check that is wrong and one that is missing get the same answer: 404. */
export function createVerify(parts: VerifyDependencies) {
  const { baseUrl, transactionIdKey } = parts.config;
  const key = verificationKey(transactionIdKey);
  const find = createFind(parts, key);
  return async (ctx: Context): Promise<void> => {
    const { c: check } = ctx.query;
    const payment = await find(ctx.params.receiptNo ?? '', typeof check === 'string' ? check : '');
    if (payment?.status !== 'succeeded')
      throw new HttpProblem(404, 'Receipt not found', { kind: 'receiptNotFound' });
    const receipt = receiptOf(payment);
    await ctx.render(
      'verify.njk',
      verifyPage(receipt, languageOf(ctx), verificationUrl(baseUrl, key, receipt)),
    );
  };
}

/** Undefined only when everything that was in the log is in the rows: a true receipt is never called unknown. */
function createFind(parts: VerifyDependencies, key: Buffer) {
  const { findByReceiptNo, findPayment, log } = parts;

  async function lookUp(receiptNo: string, check: string): Promise<Payment | undefined> {
    const ids = await findByReceiptNo(receiptNo);
    const id = ids.find((transactionId) => isVerificationCheck(key, { receiptNo, transactionId }, check));
    return id === undefined ? undefined : (await findPayment(id))?.state;
  }

  return async (receiptNo: string, check: string): Promise<Payment | undefined> => {
    const askedAt = new Date();
    try {
      const found = await lookUp(receiptNo, check);
      if (found) return found;
      if (!(await holdsAllUntil(askedAt, parts))) {
        await sleep(catchUpMs);
        if (!(await holdsAllUntil(askedAt, parts))) throw new Error('The projection of payments is behind');
      }
      return await lookUp(receiptNo, check);
    } catch (error) {
      log.warn({ err: error }, 'a receipt cannot be looked up');
      throw new HttpProblem(503, 'Receipts cannot be checked at the moment');
    }
  };
}

async function holdsAllUntil(moment: Date, { content, eventStore }: VerifyDependencies): Promise<boolean> {
  const statuses = await content.projectionStatus();
  const waiting = await firstUntaken(eventStore, payments, statuses, AbortSignal.timeout(answerWithinMs));
  return waiting === null || waiting.created > moment;
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
