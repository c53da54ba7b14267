/** What concerns the payer: who pays and for what, the notes of staff, and the payer's receipt. */
import { derivedId } from '@ledger/kernel/derived-id.ts';
import { v5 as uuidV5 } from 'uuid';
import { type OpenPayment, openPayment } from '../../../events/open-payment.ts';
import { paymentStream } from '../../../events/payment.ts';
import type { StaffNote } from '../../../events/personal-data.ts';
import { createLinks } from '../../../receipts/payment-links.ts';
import { withheldText } from '../../../receipts/texts.ts';
import { languageOf, seeOther } from '../../server/context.ts';
import { loadRequested } from '../../server/load-history.ts';
import { readForm, readNote } from '../frame/forms-and-lists.ts';
import { leadTo, type Page, staffCause } from '../frame/page.ts';
import { actorNames } from '../frame/session.ts';
import { paymentsPath } from './search.ts';

export const showPayer: Page = async (ctx, { eventStore, personalData, recordAccess, show }) => {
  const { entries, events, payment: loaded } = await loadRequested(ctx, eventStore);
  const { transactionId } = loaded.request;
  const notes = events.flatMap((event, index) =>
    event?.type === 'StaffNoteAdded' ? { ...event.data, by: entries[index]?.actor ?? null } : [],
  );
  await recordAccess(ctx, { what: 'payer', transactionId, detail: notes.length > 0 ? 'with notes' : '' });
  const payment = await openPayment(loaded, personalData.open);
  const place = { stream: paymentStream(transactionId), field: 'personal' } as const;
  const actors = entries.map(({ actor }) => actor);
  const nameOf = await actorNames(eventStore, actors);
  const opening = notes.map(async ({ at, by, personal }) => {
    return { at, by: nameOf(by), opened: await personalData.open<StaffNote>(personal, place) };
  });
  const { request } = payment;
  await show(ctx, 'payments/payer.njk', {
    backUrl: `${paymentsPath}/${transactionId}`,
    request,
    withheld: withheldText(payment, languageOf(ctx)),
    extra: Object.entries(request.extra).map(([name, value]) => ({
      name,
      value: typeof value === 'string' ? value : JSON.stringify(value),
    })),
    facts: factsAbout(payment),
    notes: await Promise.all(opening),
  });
};

/** A note counts as sent twice if text, author and the number of events on their page are the same. */
export const addNote: Page = async (ctx, { config, execute, runtime }) => {
  const { id = '' } = ctx.params;
  const { note: typed, events = '' } = readForm(ctx);
  const note = readNote('note', typed);
  const command = { type: 'AddNote', at: runtime.now().toISOString(), note } as const;
  const said = derivedId(config.transactionIdKey, ['note', ctx.state.staff.id, id, events, note]);
  const cause = { ...staffCause(ctx), commandId: uuidV5(said, uuidV5.URL) };
  await execute(paymentStream(id), command, cause, { once: true });
  leadTo(ctx, `${paymentsPath}/${id}`, 'noted');
};

/** Leads for an hour to the payer's own receipt, or to its PDF. */
export const openReceipt =
  (name: 'receipt' | 'download'): Page =>
  async (ctx, { config, eventStore, recordAccess, runtime }) => {
    const { payment } = await loadRequested(ctx, eventStore);
    const { channel, transactionId } = payment.request;
    await recordAccess(ctx, { what: 'payer', transactionId, detail: 'receipt' });
    const endsAtMs = runtime.now().getTime() + 60 * 60_000;
    const links = createLinks({ ...config, runtime })[channel];
    seeOther(ctx, links[name](transactionId, languageOf(ctx), endsAtMs));
  };

/** What the merchant and the bank say about the payer; empty fields are left out. */
function factsAbout({ request, results }: OpenPayment) {
  const { payer } = request;
  const place = `${payer.postcode} ${payer.city}`.trim();
  const address = [payer.address1, payer.address2, place, payer.state].filter((line) => line !== '');
  const buyers = [...new Set(results.map(({ buyerName }) => buyerName))];
  return [
    { label: 'Name', text: payer.name },
    { label: 'Email', text: payer.email },
    { label: 'IC number', text: payer.icNo },
    { label: 'Phone', text: payer.phoneNo },
    { label: 'Address', text: address.join(', ') },
    ...buyers.map((text) => ({ label: 'Name given by the bank', text })),
  ].filter(({ text }) => text !== '');
}
