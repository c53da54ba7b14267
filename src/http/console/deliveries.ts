/** Callbacks and receipts: which there are, and those that failed or were lost sent again, one or a whole list. */
import { kindsOfMachines, requestDeliveries } from '../../commands/send-again.ts';
import { transactionIdPattern } from '../../commands/transaction-id.ts';
import { paymentStream } from '../../events/payment.ts';
import {
  createDeliveryList,
  type DeliveryFilter,
  type ListedDelivery,
} from '../../projections/deliveries/queries.ts';
import type { Context } from '../server/context.ts';
import { staffCause } from './frame/access-log.ts';
import { cursorText, readCursor } from './frame/cursor.ts';
import { queryOf, readChoice, readDay, readText } from './frame/filter-fields.ts';
import { readForm, readQuery } from './frame/form.ts';
import type { ConsoleParts } from './frame/parts.ts';
import { ConsoleProblem } from './frame/problem.ts';
import { askReadModels } from './frame/read-models.ts';
import type { ConsoleRoute } from './frame/route.ts';
import type { Staff } from './frame/staff.ts';

const listPath = '/console/deliveries';
const sendAllPath = '/console/deliveries/send-again';
const pageSize = 50;
/** So many commands are given within one request; for more there is `ledger send-again`. */
const maxAtOnce = 1_000;
const maxCounted = 10_000;

const stateTexts = {
  due: 'Due',
  delivered: 'Delivered',
  abandoned: 'Given up',
  superseded: 'Overtaken',
} as const satisfies Record<ListedDelivery['state'], string>;
const kindTexts = {
  callback: 'Callbacks to merchants',
  item: 'Land-registry items',
  email: 'Receipts by email',
} as const satisfies Record<ListedDelivery['kind'], string>;

const states = ['due', 'delivered', 'abandoned', 'superseded'] as const;
const kinds = ['callback', 'item', 'email'] as const;

export function deliveryRoutes(parts: ConsoleParts): ConsoleRoute[] {
  return [
    { method: 'get', path: listPath, action: 'look', handle: (ctx) => showList(ctx, parts) },
    {
      method: 'get',
      path: sendAllPath,
      action: 'sendAgain',
      handle: (ctx) => confirm(ctx, parts, readQuery(ctx), null),
    },
    {
      method: 'post',
      path: sendAllPath,
      action: 'sendAgain',
      handle: (ctx, staff) => sendAll(ctx, parts, staff),
    },
    {
      method: 'post',
      path: `${listPath}/send-one-again`,
      action: 'sendAgain',
      handle: (ctx, staff) => sendOne(ctx, parts, staff),
    },
  ];
}

type Typed = Readonly<Record<string, string | undefined>>;

/** The filter, and the fields that say it: those of the query, without all else. */
function readFilter({ state, kind, receiver, merchant, day }: Typed) {
  const chosen = { state: readChoice(state, states), kind: readChoice(kind, kinds) };
  const fields = {
    ...chosen,
    receiver: readText(receiver),
    merchant: readText(merchant),
    day: readText(day),
  };
  const filter: DeliveryFilter = {
    states: chosen.state === null ? [] : [chosen.state],
    kinds: chosen.kind === null ? [] : [chosen.kind],
    receiver: fields.receiver,
    merchantCode: fields.merchant,
    called: readDay(day),
  };
  return { filter, fields };
}

async function showList(ctx: Context, { console: { db }, frame, log }: ConsoleParts): Promise<void> {
  const query = readQuery(ctx);
  const { filter, fields } = readFilter(query);
  const after = readCursor(query.after, 2);
  const [transactionId = '', lane = ''] = after?.ids ?? [];
  const deliveries = createDeliveryList(db);
  const page = { limit: pageSize + 1, after: after && { calledAt: after.at, transactionId, lane } };
  const [found, count] = await askReadModels(ctx, log, [
    deliveries.list(filter, page),
    deliveries.count(filter, maxCounted + 1),
  ]);
  const rows = found.slice(0, pageSize);
  const last = found.length > pageSize ? rows.at(-1) : undefined;
  await frame.show(ctx, 'deliveries/deliveries.njk', {
    title: 'Deliveries',
    filter: fields,
    states: states.map((value) => ({ value, text: stateTexts[value] })),
    kinds: kinds.map((value) => ({ value, text: kindTexts[value] })),
    countText: `${countText(count)} ${count === 1 ? 'delivery' : 'deliveries'}`,
    rows: rows.map((row) => ({ ...row, canSendAgain: canSendAgain(row.state) })),
    here: `${listPath}${queryOf({ ...fields, after: query.after })}`,
    sendAllUrl:
      fields.state && canSendAgain(fields.state) && count > 0 ? `${sendAllPath}${queryOf(fields)}` : null,
    isFirstPage: after === null,
    firstUrl: `${listPath}${queryOf(fields)}`,
    nextUrl: last ? `${listPath}${queryOf({ ...fields, after: cursorOf(last) })}` : null,
  });
}

function cursorOf({ calledAt, transactionId, lane }: ListedDelivery): string {
  return cursorText({ at: calledAt, ids: [transactionId, lane] });
}

function countText(count: number): string {
  return count > maxCounted ? `More than ${maxCounted.toLocaleString('en')}` : count.toLocaleString('en');
}

function canSendAgain(state: ListedDelivery['state']): boolean {
  return state === 'abandoned' || state === 'delivered';
}

/** Those of the list that may be sent again together: emails only where the list is of emails. */
function readSendable(typed: Typed) {
  const { filter, fields } = readFilter(typed);
  if (fields.state === null || !canSendAgain(fields.state))
    throw new ConsoleProblem(400, 'Only what was abandoned or delivered can be sent again');
  return { fields, filter: filter.kinds.length > 0 ? filter : { ...filter, kinds: kindsOfMachines } };
}

/** Names the number; what is sent is refused when by then it is another. */
async function confirm(
  ctx: Context,
  { console: { db }, frame, log }: ConsoleParts,
  typed: Typed,
  problem: string | null,
): Promise<void> {
  const { filter, fields } = readSendable(typed);
  const [count] = await askReadModels(ctx, log, [createDeliveryList(db).count(filter, maxCounted + 1)]);
  await frame.show(ctx, 'deliveries/send-again.njk', {
    title: 'Send again',
    filter: fields,
    stateText: filter.states.map((state) => stateTexts[state]).join(', '),
    kindsText: filter.kinds.map((kind) => kindTexts[kind]).join(', '),
    count,
    isTooMany: count > maxAtOnce,
    countText: countText(count),
    maxAtOnce,
    problem,
    action: sendAllPath,
    backUrl: `${listPath}${queryOf(fields)}`,
  });
}

async function sendAll(ctx: Context, parts: ConsoleParts, staff: Staff): Promise<void> {
  const typed = readForm(ctx);
  const { filter, fields } = readSendable(typed);
  const deliveries = createDeliveryList(parts.console.db);
  const [chosen] = await askReadModels(ctx, parts.log, [deliveries.find(filter, maxAtOnce + 1)]);
  if (chosen.length > maxAtOnce || String(chosen.length) !== typed.count) {
    ctx.status = 409;
    return confirm(ctx, parts, typed, 'The list has changed since: look at the number again.');
  }
  const cause = () => staffCause(ctx, staff);
  const runtime = { now: parts.clock };
  const { asked, refused, reasons } = await requestDeliveries(
    { execute: parts.execute, cause, runtime },
    chosen,
  );
  await parts.frame.show(ctx, 'deliveries/sent-again.njk', {
    title: 'Send again',
    asked,
    refused,
    reasons,
    backUrl: `${listPath}${queryOf(fields)}`,
  });
}

async function sendOne(ctx: Context, { clock, execute, frame }: ConsoleParts, staff: Staff): Promise<void> {
  const { transactionId = '', delivery = '', back = '' } = readForm(ctx);
  if (!transactionIdPattern.test(transactionId)) throw new ConsoleProblem(404, 'There is no such delivery');
  const command = { type: 'RequestDelivery', at: clock().toISOString(), delivery } as const;
  const { events } = await execute(paymentStream(transactionId), command, staffCause(ctx, staff));
  const isList = back === listPath || back.startsWith(`${listPath}?`);
  frame.done(ctx, isList ? back : listPath, events.length > 0 ? 'sent-again' : 'already-due');
}
