/** A payment's history for a terminal: a line per event, then the state in words. No personal data. */
import { toIsoWithOffset } from '../../common/malaysian-time.ts';
import { displaySen } from '../../common/money.ts';
import { exceptionsOf } from '../../events/exceptions.ts';
import type { RequestedPayment } from '../../events/payment.ts';
import { unknownOutcomesOf } from '../../events/unknown-outcomes.ts';
import { entriesUntil, type History, type HistoryEntry, type HistoryVerdict, type Until } from './history.ts';

/** Throws what `entriesUntil` throws. The verdict covers all events, even if only some are shown. */
export function historyText(history: History, until: Until = null): string {
  const entries = entriesUntil(history, until);
  const last = entries.at(-1);
  const hidden = history.entries.length - entries.length;
  const lines = [
    ...entries.map(entryLine),
    '',
    verdictText(history.verdict, history.entries.length),
    ...(hidden > 0 ? [`${plural(hidden, 'later event')} not shown.`] : []),
    '',
    ...(last ? summary(last, entries) : []),
  ];
  return lines.map(printable).join('\n');
}

function verdictText(verdict: HistoryVerdict, count: number): string {
  if (verdict.kind === 'whole') return `The chain of ${plural(count, 'event')} is whole.`;
  return verdict.kind === 'broken'
    ? `The chain is broken at event ${verdict.revision}: it, or the one before it, is not what was written.`
    : `Event ${verdict.revision} is as it was written, but this program cannot read it.`;
}

function entryLine({ revision, at, type, actor, state, fits }: HistoryEntry): string {
  const time = at === null ? 'unreadable'.padEnd(25) : toIsoWithOffset(at);
  const mark = fits ? '' : '  CHAIN BROKEN';
  return `${String(revision).padStart(4)}  ${time}  ${type.padEnd(26)}  ${state.status.padEnd(10)} ${actor ?? 'unknown'}${mark}`;
}

function summary({ revision, state }: HistoryEntry, entries: readonly HistoryEntry[]): string[] {
  const facts = state.status === 'none' ? [['Status', 'none']] : factsOf(state, entries);
  return [`After event ${revision}:`, ...facts.map(([name, text]) => `  ${(name ?? '').padEnd(11)} ${text}`)];
}

type Fact = readonly [name: string, text: string];

function factsOf(payment: RequestedPayment, entries: readonly HistoryEntry[]): Fact[] {
  const { status, request, attempts, receipt, personalData } = payment;
  const attempt = attempts.at(-1);
  const lastAttempt = attempt ? `, the last by ${attempt.mode} as order ${attempt.sellerOrderNo}` : '';
  return [
    ['Status', receipt?.late ? `${status}, late` : status],
    ['Amount', displaySen(request.amountSen)],
    ['Reference', `${request.reference} of ${request.merchant.code} (${request.channel})`],
    ['Attempts', `${attempts.length}${lastAttempt}`],
    ['Receipt', receipt?.receiptNo ?? 'none'],
    ...(personalData.erasedAt === null
      ? []
      : ([['Payer', `personal data erased ${toIsoWithOffset(personalData.erasedAt)}`]] as const)),
    ...listed('Undelivered', openDeliveries(payment)),
    ...listed('Exception', exceptions(payment)),
    ...listed('Staff', entries.flatMap(staffAction)),
  ];
}

/** One line each; `none` when there are none. */
function listed(name: string, texts: readonly string[]): Fact[] {
  if (texts.length === 0) return [[name, 'none']];
  return texts.map((text, index) => [index === 0 ? name : '', text] as const);
}

/** Those that are due or were given up. */
function openDeliveries({ deliveries }: RequestedPayment): string[] {
  return deliveries.flatMap(({ key, state, attempts, dueAt }) => {
    const after = `after ${plural(attempts, 'attempt')}`;
    if (state === 'due') return [`${key}: due at ${toIsoWithOffset(dueAt)}, ${after}`];
    return state === 'abandoned' ? [`${key}: given up ${after}`] : [];
  });
}

function exceptions(payment: RequestedPayment): string[] {
  const unknown = unknownOutcomesOf(payment).map(({ amountSen, orderNo, settled }) => {
    const end = settled ? `${settled.outcome} ${toIsoWithOffset(settled.at)}` : 'open';
    return `outcome unknown of ${displaySen(amountSen)} in order ${orderNo}: ${end}`;
  });
  const results = exceptionsOf(payment).map(({ resultNo, kind, amountSen, resolved }) => {
    const amount = amountSen === null ? '' : ` of ${displaySen(amountSen)}`;
    const end = resolved ? `${resolved.resolution} ${toIsoWithOffset(resolved.at)}` : 'open';
    return `${kind}${amount} in result ${resultNo}: ${end}`;
  });
  return [...results, ...unknown];
}

/** Without the note of a resolution, which is free text. */
function staffAction({ actor, at, type, revision }: HistoryEntry): string[] {
  if (!actor?.startsWith('staff:')) return [];
  const time = at === null ? 'an unknown time' : toIsoWithOffset(at);
  return [`${type} by ${actor} at ${time} (event ${revision})`];
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Whatever somebody has put into the store must not control the terminal or reverse the text. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, '\ufffd');
}
