/** Tells the land registry of one item of a payment that succeeded: content/docs/land-registry-callbacks.md. */
import pRetry from 'p-retry';
import { create, type Infer, type } from 'superstruct';
import { lenientText } from '../../clients/lenient-text.ts';
import { NoAnswer, type OutboundAnswer, type PostOutbound } from '../../clients/outbound/post.ts';
import { toDigits } from '../../kernel/malaysian-time.ts';
import { formatSen } from '../../kernel/money.ts';
import type { PaymentMode } from '../../kernel/payment-modes.ts';
import { receiptOf } from '../../receipts/receipt.ts';
import { isSuccess, outcomeOfError, outcomeOfRefusal } from '../deliveries/answers.ts';
import type { DeliveryOutcome, DeliveryTask, PerformDelivery } from '../deliveries/delivery-task.ts';

type Settings = {
  callbackUrl: string;
  accessToken: string;
  dimasuk: string;
  /** Of a try as a whole. */
  timeoutMs: number;
  /** To connect, within one try. */
  attempts: number;
  pauseMs: number;
};

/** By the land registry's own table; what the gateway did not name has no code. */
const paymentTypes: Readonly<Record<PaymentMode | '', string>> = {
  '': '',
  fpx: 'CABAMPAY',
  fpx1: 'CABAMPAY',
  cc: 'CABAMCC',
  dnqr: 'CABAMQR',
  dc: 'CABAMDC',
  wallet: 'CABAMPAY',
};

export function createLandRegistryCallback({
  config,
  post,
  clock,
}: {
  config: Settings;
  post: PostOutbound;
  clock: () => Date;
}): PerformDelivery {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'payment-ledger',
    'access-token': config.accessToken,
  };
  return async (task) => {
    const fields = landRegistryFields(task, config.dimasuk);
    const request = { url: config.callbackUrl, headers, body: JSON.stringify(fields) };
    const signal = AbortSignal.any([task.signal, AbortSignal.timeout(config.timeoutMs)]);
    try {
      const answer = await pRetry(() => post({ ...request, signal }), {
        retries: config.attempts - 1,
        minTimeout: config.pauseMs,
        factor: 1,
        // Once connected the item may have arrived: that is for the next try, which understands a duplicate.
        shouldRetry: ({ error }) => error instanceof NoAnswer && !error.wasConnected && !signal.aborted,
      });
      return outcomeOf(answer, { isRepeat: task.delivery.attempts > 0, messageId: fields.resitNo }, clock());
    } catch (error) {
      return outcomeOfError(error);
    }
  };
}

/** The documented fields, all texts. Amounts are in RM with two decimals, the time is Malaysian. */
export function landRegistryFields(
  { payment, delivery }: Pick<DeliveryTask, 'payment' | 'delivery'>,
  dimasuk: string,
) {
  const { request } = payment;
  const receipt = receiptOf(payment);
  const index = Number(delivery.key.replace('item-', '')) - 1;
  const [item, itemOfReceipt] = [request.items[index], receipt.items[index]];
  if (!item || !itemOfReceipt) throw new Error(`The payment has no ${delivery.key}`);
  return {
    accountNo: textOf(request.extra.account_no) || request.payer.icNo,
    idHakmilik: item.titleId,
    kodCaw: request.branchCode,
    resitNo: itemOfReceipt.receiptNo || receipt.receiptNo,
    amaun: formatSen(item.amountSen),
    paymentDateTime: toDigits(receipt.at),
    paymentType: paymentTypes[receipt.mode],
    fpxNo: receipt.fpxNo,
    transId: request.transactionId,
    dimasuk,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

const Reply = type({ statusCode: lenientText, noresit: lenientText });

/** How a refusal says, in English or Malay, that the land registry has this receipt number with this FPX number. */
const duplicateWords = /duplicat|already (exists|received|recorded)|pendua|(telah|sudah) wujud/i;
const conflict = 409;

const reasons = {
  duplicate: 'refused as a duplicate',
  refused: 'refused by the land registry',
  unreadable: 'answered no readable reply',
};

/** `isRepeat`: it may have arrived before, so that a duplicate is what we want to hear. */
function outcomeOf(
  answer: OutboundAnswer,
  { isRepeat, messageId }: { isRepeat: boolean; messageId: string },
  now: Date,
): DeliveryOutcome {
  const { status } = answer;
  const verdict = verdictOf(answer);
  if (verdict === 'accepted' || (verdict === 'duplicate' && isRepeat))
    return { kind: 'delivered', status, messageId };
  if (!isSuccess(answer)) return outcomeOfRefusal(answer, now);
  return { kind: 'failed', status, reason: reasons[verdict], isReceiverDown: false, retryAfterMs: 0 };
}

function verdictOf(answer: OutboundAnswer): 'accepted' | keyof typeof reasons {
  const { status, body } = answer;
  if (status === conflict) return 'duplicate';
  const reply = readReply(body);
  if (reply === null) return 'unreadable';
  const isFailed = reply.statusCode.trim().toUpperCase() === 'FAILED' || reply.noresit.trim() === '';
  if (isSuccess(answer) && !isFailed) return 'accepted';
  return status < 500 && duplicateWords.test(body) ? 'duplicate' : 'refused';
}

function readReply(body: string): Infer<typeof Reply> | null {
  try {
    return create(JSON.parse(body), Reply);
  } catch {
    return null;
  }
}
