/** GET /verify/{receipt_no}?c=<check>: confirms a receipt to anyone; …/proof shows that its payment is sealed. */
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { isReady } from '@ledger/projections/runtime/lag.ts';
import { proveReceipt } from '../../audit/export/receipt-proof.ts';
import { loadHead } from '../../commands/execute.ts';
import { paymentDecider } from '../../commands/payment.ts';
import { otherLanguage } from '../../common/languages.ts';
import { unopened } from '../../events/open-payment.ts';
import { type Payment, paymentStream } from '../../events/payment.ts';
import { payments } from '../../projections/payments/projection.ts';
import {
  isVerificationCheck,
  type VerificationKeys,
  verificationKeys,
  verificationUrl,
} from '../../receipts/check-code.ts';
import { receiptOf } from '../../receipts/receipt.ts';
import { noteText, statusName, timeText } from '../../receipts/texts.ts';
import { type Context, HttpProblem, languageOf, queryText } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';

/** How long a projection that is behind may take to catch up. */
const waitMs = 1_000;
/** Up to 10,000 events of the log are read for a proof. */
const proveWithinMs = 10_000;

/** A number that does not exist, a wrong check and a missing one get the same answer: 404. */
export function createVerify(dependencies: Dependencies) {
  const { config, eventStore, log, runtime, sealingRefused } = dependencies;
  const { baseUrl, linkKeys } = config;
  const keys = verificationKeys(linkKeys);
  const find = createFind(dependencies, keys);

  async function findReceipt(ctx: Context) {
    const payment = await ctx.state.guess('check code', async () => {
      const found = await find(ctx.params.receiptNo ?? '', queryText(ctx, 'c'));
      return found?.status === 'succeeded' ? found : null;
    });
    if (!payment) throw new HttpProblem(404, 'Receipt not found', { kind: 'receiptNotFound' });
    const lang = languageOf(ctx);
    const receipt = receiptOf(unopened(payment));
    const [path = '', query = ''] = verificationUrl(baseUrl, keys, receipt).split('?');
    const urlOf = (page: string, language = lang) => `${path}${page}?${query}&lang=${language}`;
    return { lang, receipt, urlOf };
  }

  return {
    async confirm(ctx: Context): Promise<void> {
      const { lang, receipt, urlOf } = await findReceipt(ctx);
      await ctx.render('verify.njk', {
        lang,
        otherLanguageUrl: urlOf('', otherLanguage(lang)),
        proofUrl: urlOf('/proof'),
        status: statusName(receipt.status),
        agency: receipt.agency,
        receiptNo: receipt.receiptNo,
        dateTime: timeText(receipt.at, lang),
        total: receipt.total,
        notes: receipt.notes.map((note) => noteText(note, lang, { isPublic: true })),
      });
    },
    /** Shows the proof as a page, or with `.jsonl` at the end as a file. */
    async prove(ctx: Context): Promise<void> {
      const { lang, receipt, urlOf } = await findReceipt(ctx);
      await ctx.state.spend('proofs', '');
      const signal = runtime.timeout(proveWithinMs);
      // If the sealer refuses to continue the log, somebody else may have written its seals.
      const refused = await sealingRefused();
      const proving =
        refused === null ? proveReceipt(eventStore, receipt.transactionId, signal) : Promise.reject(refused);
      const proof = await proving.catch((error) => {
        log.error({ reason: reasonOf(error) }, 'the proof of a receipt cannot be made');
        throw new HttpProblem(503, 'The proof cannot be shown at the moment');
      });
      if (ctx.path.endsWith('.jsonl')) {
        if (!proof) throw new HttpProblem(404, 'This payment is not sealed yet');
        ctx.attachment(`proof-of-entry-${proof.number}.jsonl`);
        ctx.type = 'application/jsonl';
        ctx.body = proof.file;
        return;
      }
      await ctx.render('verify-proof.njk', {
        lang,
        otherLanguageUrl: urlOf('/proof', otherLanguage(lang)),
        receiptUrl: urlOf(''),
        downloadUrl: urlOf('/proof.jsonl'),
        agency: receipt.agency,
        receiptNo: receipt.receiptNo,
        proof,
        sealedAt: proof && timeText(proof.sealedAt, lang),
      });
    },
  };
}

/** Undefined only if the rows hold everything in the log, so that a genuine receipt is never called unknown. */
function createFind(dependencies: Dependencies, keys: VerificationKeys) {
  const { eventStore, findByReceiptNo, findPayment, log, runtime } = dependencies;
  async function lookUp(receiptNo: string, check: string): Promise<Payment | undefined> {
    const ids = await findByReceiptNo(receiptNo);
    const id = ids.find((transactionId) => isVerificationCheck(keys, { receiptNo, transactionId }, check));
    if (id === undefined) return undefined;
    const row = await findPayment(id);
    return row ? row.state : (await loadHead(eventStore, paymentStream(id), paymentDecider)).state;
  }

  return async (receiptNo: string, check: string): Promise<Payment | undefined> => {
    const until = runtime.now();
    try {
      const found = await lookUp(receiptNo, check);
      if (found) return found;
      if (!(await isReady(payments, { until, waitMs }, dependencies)))
        throw new Error('The projection of payments is behind');
      return await lookUp(receiptNo, check);
    } catch (error) {
      log.warn({ err: error }, 'a receipt cannot be looked up');
      throw new HttpProblem(503, 'Receipts cannot be checked at the moment');
    }
  };
}
