/** /console/settlements: what the gateway paid out and what was handed on to agencies; staff import, enter or reverse it. */
import { Refused } from '../../../commands/decider.ts';
import { headOf } from '../../../commands/execute.ts';
import { note as noteField } from '../../../commands/fields.ts';
import { settlementDecider } from '../../../commands/settlement.ts';
import { actorOf } from '../../../events/envelope.ts';
import { settlementKinds, settlementStream } from '../../../events/settlement.ts';
import { derivedIdPattern } from '../../../kernel/derived-id.ts';
import { dayOf } from '../../../kernel/malaysian-time.ts';
import { paymentModes } from '../../../kernel/payment-modes.ts';
import { merchantsWithAccount } from '../../../projections/journal/queries.ts';
import { listSettlements, payoutLines } from '../../../projections/journal/settlement-queries.ts';
import { UnreadableExport } from '../../../reconciliation/export-format.ts';
import { ReadModelBehind } from '../../../reconciliation/reconcile.ts';
import {
  enterSettlement,
  importSettlement,
  reverseSettlement as reverse,
} from '../../../reconciliation/settle.ts';
import { readHead, readPart } from '../../../reconciliation/settlement-file.ts';
import { type Context, seeOther } from '../../server/context.ts';
import { HttpProblem } from '../../server/errors.ts';
import {
  cursorText,
  type Fields,
  pageOf,
  readCursor,
  readForm,
  readQuery,
} from '../frame/forms-and-lists.ts';
import { leadTo } from '../frame/frame.ts';
import type { Page, PageDependencies } from '../frame/page.ts';
import { staffCause } from '../frame/record-access.ts';
import { uploadOf } from '../reconciliation/import.ts';

const path = '/console/settlements';
const size = 50;
const linesOnPage = 200;
const readModelWaitMs = 5_000;

export const showSettlements: Page = (ctx, dependencies) => showList(ctx, dependencies, null);

type Problem = { status: number; message: string; faults: readonly string[] };

async function showList(
  ctx: Context,
  dependencies: PageDependencies,
  problem: Problem | null,
): Promise<void> {
  const { askReadModels, config, db, runtime, show } = dependencies;
  if (problem) ctx.status = problem.status;
  const { after: text, payment = null } = readQuery(ctx);
  const cursor = readCursor(text, 1);
  const after = cursor && { at: cursor.at, id: cursor.ids[0] ?? '' };
  const [found, codes] = await askReadModels(ctx, [
    listSettlements(db, { limit: size + 1, after, transactionId: payment }),
    merchantsWithAccount(db),
  ]);
  const { rows, ...links } = pageOf(found, {
    size,
    path,
    filter: { payment },
    isFirst: cursor === null,
    nextAfter: ({ at, id }) => ({ after: cursorText(at, id) }),
  });
  const typed = problem ? readForm(ctx) : {};
  await show(ctx, 'journal/settlements.njk', {
    title: 'Settlement',
    problem: problem && { message: `${problem.message}.`, faults: problem.faults },
    payment,
    today: dayOf(runtime.now().toISOString()),
    methods: [...paymentModes, 'unknown'].map((mode) => ({
      mode,
      amount: typed[`gateway:${mode}`] ?? '',
      fee: typed[`fees:${mode}`] ?? '',
    })),
    agencies: codes.map((value) => ({ value, text: config.merchants.get(value)?.name ?? value })),
    typed: Object.fromEntries(fieldNames.map((name) => [name, typed[name] ?? ''])),
    rows,
    ...links,
  });
}

const fieldNames = ['kind', 'reference', 'on', 'total', 'agency', 'amount'] as const;
const maxShown = 20;

/** A form with a file imports it; one without records what was typed. */
export const recordSettlement: Page = async (ctx, dependencies) => {
  const { config, db, eventStore, log, runtime } = dependencies;
  const { transactionIdKey } = config;
  const form = readForm(ctx);
  const faults: string[] = [];
  const stores = { eventStore, db, transactionIdKey, runtime };
  const task = { isConfirmed: form.confirm !== undefined, newCause: () => staffCause(ctx) };
  const file = uploadOf(ctx);
  try {
    const { id, isNew } = file
      ? await importSettlement(stores, {
          ...task,
          file: file.stream(),
          dryRun: false,
          waitMs: readModelWaitMs,
          onBadRow: ({ line, fault }) => faults.length < maxShown && faults.push(`Line ${line} ${fault}`),
          onDiscrepancy: () => {},
        })
      : await enterSettlement(stores, await typedSettlement(form, dependencies), task);
    leadTo(ctx, `${path}/${id}`, isNew ? 'settled' : 'settled-before');
  } catch (error) {
    const status = statusOf(error);
    if (!(error instanceof Error) || status === null) throw error;
    log.info({ requestId: ctx.state.requestId, reason: error.name }, 'a settlement was refused');
    await showList(ctx, dependencies, { status, message: error.message, faults });
  }
};

function statusOf(error: unknown): number | null {
  if (error instanceof ReadModelBehind) return 503;
  if (error instanceof Refused) return error.code === 'invalid_settlement' ? 400 : 409;
  return error instanceof UnreadableExport ? 400 : null;
}

/** Throws Refused, and the database's error. */
async function typedSettlement(form: Fields, { db }: PageDependencies) {
  const kind = settlementKinds.find((each) => each === form.kind) ?? 'payout';
  const read = <T>(found: T | string): T => {
    if (typeof found === 'string') throw new Refused('invalid_settlement', found);
    return found;
  };
  const head = read(
    readHead(form.reference?.trim(), form.on, (kind === 'remittance' ? form.amount : form.total)?.trim()),
  );
  const merchants = await merchantsWithAccount(db);
  const amounts =
    kind === 'remittance'
      ? [[`merchant:${form.agency}`, form.amount]]
      : Object.entries(form).filter(([name]) => /^(gateway|fees):/.test(name));
  const parts = amounts
    .filter(([, amount]) => amount?.trim())
    .map(([account = '', amount = '']) => {
      const part = readPart(account, amount.trim(), merchants);
      return read(typeof part === 'string' ? `${account} ${part}` : part);
    });
  return { kind, ...head, parts };
}

export const showSettlement: Page = async (ctx, dependencies) => showOne(ctx, dependencies, '');

async function showOne(ctx: Context, dependencies: PageDependencies, problem: string): Promise<void> {
  const { askReadModels, db, eventStore, show } = dependencies;
  const { id = '' } = ctx.params;
  const events = derivedIdPattern.test(id) ? await eventStore.load(settlementStream(id)) : [];
  const { recorded, reversed } = headOf(events, settlementDecider).state;
  if (!recorded) throw new HttpProblem(404, 'There is no such payout or remittance');
  const after = Number(/^\d{1,9}$/.exec(readQuery(ctx).after ?? '')?.[0] ?? 0);
  const [found] = await askReadModels(ctx, [payoutLines(db, id, { limit: linesOnPage + 1, after })]);
  const { rows, ...links } = pageOf(found, {
    size: linesOnPage,
    path: `${path}/${id}`,
    isFirst: after === 0,
    nextAfter: ({ no }) => ({ after: String(no) }),
  });
  await show(ctx, 'journal/settlement.njk', {
    title: `${recorded.kind === 'payout' ? 'Payout' : 'Remittance'} ${recorded.reference}`,
    id,
    recorded,
    recordedBy: actorOf(events.findLast(({ type }) => type === 'SettlementRecorded')),
    reversed,
    reversedBy: reversed && actorOf(events.at(-1)),
    problem: problem && `${problem}.`,
    note: readForm(ctx).note ?? '',
    rows,
    ...links,
  });
}

export const reverseSettlement: Page = async (ctx, dependencies) => {
  const { id = '' } = ctx.params;
  const note = (readForm(ctx).note ?? '').replaceAll('\r\n', '\n').trim();
  const [failure] = noteField.validate(note);
  if (failure) {
    ctx.status = 400;
    return showOne(ctx, dependencies, `The note ${failure.message}`);
  }
  await reverse(dependencies, id, note, staffCause(ctx));
  seeOther(ctx, `${path}/${id}`);
};
