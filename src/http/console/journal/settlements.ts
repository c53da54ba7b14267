/** /console/settlements: what the gateway paid out and what was remitted to agencies; staff import, enter or reverse it. */
import { derivedIdPattern } from '@ledger/kernel/derived-id.ts';
import { stringify } from 'csv-stringify/sync';
import { createExecute, headOf } from '../../../commands/execute.ts';
import { InvalidFields } from '../../../commands/fields.ts';
import { settlementDecider } from '../../../commands/settlement.ts';
import { dayOf } from '../../../common/malaysian-time.ts';
import { phrase } from '../../../common/phrases.ts';
import { actorOf } from '../../../events/envelope.ts';
import { settlementStream } from '../../../events/settlement.ts';
import { merchantsWithAccount } from '../../../projections/journal/queries.ts';
import { texts as receiptTexts } from '../../../receipts/texts.ts';
import { importSettlement } from '../../../reconciliation/settle.ts';
import { methods } from '../../../reconciliation/settlement-file.ts';
import { HttpProblem, languageOf, seeOther } from '../../server/context.ts';
import type { FormPage } from '../frame/form-page.ts';
import { type Fields, readForm, readNote } from '../frame/forms-and-lists.ts';
import { leadTo, type Page, staffCause } from '../frame/page.ts';
import { actorNames } from '../frame/session.ts';
import { uploadOf } from '../frame/uploads.ts';
import { textsOf } from '../texts.ts';

const path = '/console/settlements';
const maxShown = 20;

export const settlements: FormPage = {
  template: 'journal/settlements.njk',
  async model(ctx, { askReadModels, config, db, runtime }, typed) {
    const [codes] = await askReadModels(ctx, [merchantsWithAccount(db)]);
    const lang = languageOf(ctx);
    return {
      today: dayOf(runtime.now().toISOString()),
      accounts: [
        ...methods.map((name) => ({
          value: `PAYMENT_MODE:${name}`,
          text: phrase(lang, 'Payout, {method}', {
            method: name === 'unknown' ? textsOf(ctx).words.unknown : receiptTexts[lang].modes[name],
          }),
        })),
        ...codes.map((code) => ({
          value: `MERCHANT_CODE:${code}`,
          text: phrase(lang, 'Remitted to {agency}', { agency: config.merchants.get(code)?.name ?? code }),
        })),
      ],
      typed: { ...typed },
    };
  },
  /** A form without a file is one with the row that was typed. */
  async submit(ctx, dependencies, form, faults) {
    const file = uploadOf(ctx);
    const { id, isNew } = await importSettlement(dependencies, {
      file: (file ?? typedFile(form)).stream(),
      isConfirmed: form.confirm !== undefined,
      cause: staffCause(ctx),
      onBadRow({ line, fault }) {
        if (!file) throw new InvalidFields(fault.replace(/^[A-Z_]+/, fieldOf));
        if (faults.length < maxShown) faults.push(`Line ${line} ${fault}`);
      },
    });
    leadTo(ctx, `${path}/${id}`, isNew ? 'settled' : 'settled-before');
  },
};

/** The field of the form that fills a column. */
const fieldOf = (column: string) => `The ${column === 'SETTLED_ON' ? 'day' : column.toLowerCase()}`;

/** Throws InvalidFields if no kind is chosen. */
function typedFile({ account = '', amount = '', fee, on, reference, total }: Fields): Blob {
  const [, column, value] = /^([A-Z_]+):(.*)$/.exec(account) ?? [];
  if (column === undefined) throw new InvalidFields('Choose a kind');
  const row = { REFERENCE: reference, SETTLED_ON: on, TOTAL: total || amount, AMOUNT: amount, FEE: fee };
  const columns = { ...row, [column]: value };
  return new Blob([stringify([Object.keys(columns), Object.values(columns)])]);
}

export const showSettlement: Page = async (ctx, { eventStore, show }) => {
  const { id = '' } = ctx.params;
  const events = derivedIdPattern.test(id) ? await eventStore.load(settlementStream(id)) : [];
  const { recorded, reversed } = headOf(events, settlementDecider).state;
  if (!recorded) throw new HttpProblem(404, 'There is no such payout or remittance');
  const nameOf = await actorNames(eventStore, events.map(actorOf));
  await show(ctx, 'journal/settlement.njk', {
    id,
    recorded,
    reversed,
    history: events.map((event) => ({ ...settlementDecider.read(event), by: nameOf(actorOf(event)) })),
  });
};

export const reverseSettlement: Page = async (ctx, { eventStore, runtime }) => {
  const { id = '' } = ctx.params;
  const { note: typed, recorded: recordedAt = '' } = readForm(ctx);
  const note = readNote('note', typed);
  const command = { type: 'ReverseSettlement', at: runtime.now().toISOString(), note, recordedAt } as const;
  const execute = createExecute({ eventStore, decider: settlementDecider });
  await execute(settlementStream(id), command, staffCause(ctx));
  seeOther(ctx, `${path}/${id}`);
};
