/** The land registry's callback: its fields, and what its reply means. content/docs/land-registry-callbacks.md */
import { orElse } from '@ledger/kernel/or-else.ts';
import { retry } from '@ledger/kernel/retry.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { NoAnswer, type OutboundAnswer, type PostOutbound } from '@ledger/outbound/post.ts';
import { create, type } from 'superstruct';
import { toDigits } from '../../common/malaysian-time.ts';
import { formatSen, type Sen } from '../../common/money.ts';
import type { PaymentMode } from '../../common/payment-modes.ts';
import type { LandRegistryConfig } from '../../config/callbacks-and-mail.ts';
import { lenientText } from '../wire-fields.ts';

/** One item of a payment that succeeded. Texts are `''` if nothing is known. */
export type PaidItem = {
  accountNo: string;
  titleId: string;
  branchCode: string;
  receiptNo: string;
  amountSen: Sen;
  /** UTC. */
  paidAt: string;
  mode: PaymentMode | '';
  fpxNo: string;
  transactionId: string;
};

/** The land registry's own table; a payment without a known mode has no code. */
const paymentTypes: Readonly<Record<PaymentMode | '', string>> = {
  '': '',
  fpx: 'CABAMPAY',
  fpx1: 'CABAMPAY',
  cc: 'CABAMCC',
  dnqr: 'CABAMQR',
  dc: 'CABAMDC',
  wallet: 'CABAMPAY',
};

/** The documented fields, all texts. Amounts are in RM with two decimals, the time is Malaysian. */
export function callbackFields(item: PaidItem, dimasuk: string) {
  return {
    accountNo: item.accountNo,
    idHakmilik: item.titleId,
    kodCaw: item.branchCode,
    resitNo: item.receiptNo,
    amaun: formatSen(item.amountSen),
    paymentDateTime: toDigits(item.paidAt),
    paymentType: paymentTypes[item.mode],
    fpxNo: item.fpxNo,
    transId: item.transactionId,
    dimasuk,
  };
}

export type ReportItem = ReturnType<typeof createReportItem>;

/**
 * The function returned reports one item, with several attempts to connect, within `timeoutMs` in all. Throws AddressRefused
 * and NoAnswer.
 */
export function createReportItem(dependencies: {
  /** Its access token may change. */
  config: Omit<LandRegistryConfig, 'connectTimeoutMs'>;
  post: PostOutbound;
  runtime: Pick<Runtime, 'monotonicMs' | 'random' | 'sleep' | 'timeout'>;
}) {
  const { config, post, runtime } = dependencies;
  const { attempts, callbackUrl, dimasuk, pauseMs, timeoutMs } = config;
  const json = 'application/json';
  const headers = { 'content-type': json, accept: json, 'user-agent': 'payment-ledger' };
  return (
    item: PaidItem,
    { correlationId, signal: stopping }: { correlationId: string; signal: AbortSignal },
  ): Promise<OutboundAnswer> => {
    const signal = AbortSignal.any([stopping, runtime.timeout(timeoutMs)]);
    const sent = { ...headers, 'access-token': config.accessToken, 'x-correlation-id': correlationId };
    const body = JSON.stringify(callbackFields(item, dimasuk));
    return retry(() => post({ url: callbackUrl, headers: sent, body, signal }), {
      runtime,
      firstMs: pauseMs,
      longestMs: pauseMs,
      jitter: 0,
      maxAttempts: attempts,
      // Once connected, the item may have arrived: the next delivery attempt understands a duplicate.
      shouldRetry: (error) => error instanceof NoAnswer && !error.wasConnected && !signal.aborted,
    });
  };
}

const Reply = type({ statusCode: lenientText, noresit: lenientText });
/** How a refusal says, in English or Malay, that it is a duplicate. */
const duplicateWords = /duplicat|already (exists|received|recorded)|pendua|(telah|sudah) wujud/i;
const conflict = 409;

/**
 * A reply of FAILED, or without a receipt number, is a refusal although its status is 2xx. `duplicate`: the land registry
 * already has this receipt number with this FPX number.
 */
export function readReply({ status, body }: OutboundAnswer) {
  if (status === conflict) return 'duplicate';
  const reply = orElse(() => create(JSON.parse(body), Reply), null);
  if (!reply) return 'unreadable';
  const isFailed = reply.statusCode.trim().toUpperCase() === 'FAILED' || reply.noresit.trim() === '';
  if (status >= 200 && status < 300 && !isFailed) return 'accepted';
  return status < 500 && duplicateWords.test(body) ? 'duplicate' : 'refused';
}
