/** `ledger subject-access`: what is held about one person, as JSON, to be handed out on request. */
import { historyOf } from '../audit/history/history.ts';
import { openData } from '../audit/history/open-data.ts';
import { plural } from '../common/plural.ts';
import { paymentStream } from '../events/payment.ts';
import { type FoundUnmatched, findByPayer, nothingFound } from '../personal-data/find-by-payer.ts';
import { recordToolAccess } from './access.ts';
import { type CommandOf, UsageError } from './command.ts';
import { type Context, withStores } from './stores.ts';

export const command: CommandOf<'subject-access'> = async ({ payer = '' }, _args, write) => {
  if (payer.trim() === '') throw new UsageError('Name the person with --payer');
  return await withStores('subject-access', { uses: ['dataKeys'] }, async (context) => {
    const { payments, unmatched } = await findByPayer(payer, context);
    const detail = `${plural(payments.length, 'payment')}, ${plural(unmatched.length, 'unmatched result')}`;
    if (payments.length + unmatched.length === 0) process.stderr.write(`${nothingFound}\n`);
    const ids = payments.map(({ request }) => request.transactionId);
    for (const transactionId of [null, ...ids])
      await recordToolAccess(context, { what: 'subjectAccess', transactionId, detail });
    return await write(pieces(ids, unmatched, context));
  });
};

async function* pieces(
  ids: readonly string[],
  unmatched: readonly FoundUnmatched[],
  context: Context<'dataKeys'>,
): AsyncGenerator<string> {
  yield `{"writtenAt":${JSON.stringify(context.runtime.now().toISOString())},"payments":[`;
  for (const [index, id] of ids.entries())
    yield `${index === 0 ? '\n' : ',\n'}${JSON.stringify(await heldAbout(id, context))}`;
  const results = await Promise.all(
    unmatched.map(async ({ id, loaded: { stream, result, evidence } }) => {
      const opened = await context.personalData.open(evidence, { stream, field: 'evidence' });
      return { id, ...result, received: opened.kind === 'open' ? opened.value : null };
    }),
  );
  yield `\n],"unmatchedResults":${JSON.stringify(results)}}\n`;
}

/** Every event of a payment, opened: when it happened, who caused it and what it says. */
async function heldAbout(transactionId: string, { eventStore, personalData }: Context<'dataKeys'>) {
  const stream = paymentStream(transactionId);
  const { entries } = historyOf(await eventStore.load(stream));
  const events = await Promise.all(
    entries.map(async ({ at, type, actor, data }) => ({
      at,
      type,
      actor,
      data: await openData(data, stream, personalData.open),
    })),
  );
  return { transactionId, events };
}
