/** A payment's history for a terminal: a line per event, then the state in words. No personal data. */
import { toIsoWithOffset } from '../../common/malaysian-time.ts';
import { displaySen } from '../../common/money.ts';
import { plural } from '../../common/plural.ts';
import { renderText } from '../../common/templates.ts';
import { exceptionsOf } from '../../events/exceptions.ts';
import { type RequestedPayment, requestedIn } from '../../events/payment.ts';
import { unknownOutcomesOf } from '../../events/unknown-attempt-outcomes.ts';
import { entriesUntil, type History, type HistoryEntry, type Until } from './history.ts';

/** Throws what `entriesUntil` throws. The verdict covers all events, even if only some are shown. */
export function historyText(history: Omit<History, 'events'>, until: Until = null): string {
  const entries = entriesUntil(history, until);
  const payment = requestedIn(entries.at(-1)?.state);
  const model = {
    entries: entries.map(({ data: _, state: { status }, ...entry }) => ({ ...entry, status })),
    all: history.entries.length,
    verdict: history.verdict,
    payment,
    attempt: payment?.attempts.at(-1) ?? null,
    undelivered: payment ? openDeliveries(payment) : [],
    exceptions: payment ? exceptions(payment) : [],
    staff: entries.flatMap(staffAction),
  };
  const printed = (_: string, value: unknown) => (typeof value === 'string' ? forTerminal(value) : value);
  return renderText('history.txt', JSON.parse(JSON.stringify(model), printed));
}

/** The deliveries that are due or were given up. */
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

/** Text that somebody put into the store must not control the terminal or change the direction of text. */
export function forTerminal(text: string): string {
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, '\ufffd');
}
