// Rebuilds under the program as its users run it: nobody who asks or looks meanwhile notices, and a command that is
// killed is taken over by the role of projections.
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { query, until } from '../../embedded/helpers.ts';
import { runLedger, settingsFor, spawnLedger } from '../../support/ledger.ts';
import { paymentRequest, requestPayment } from '../ledger.ts';
import { eventStore, ledger } from './service.ts';

/** `ledger <args>`, killed with the test at the latest. */
function start(t: ExecutionContext, args: readonly string[]) {
  const child = spawnLedger(args, settingsFor(ledger));
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

/** Four at a time. */
async function inParallel(count: number, request: (number: number) => Promise<unknown>): Promise<void> {
  let begun = 0;
  const caller = async () => {
    while (begun < count) {
      begun += 1;
      await request(begun);
    }
  };
  await Promise.all([caller(), caller(), caller(), caller()]);
}

test.serial('100 requests during rebuilds of payments: none fails, and the rows are the same', async (t) => {
  const { baseUrl, databaseUrl } = ledger;
  const settings = settingsFor(ledger);
  const types = async () => (await eventStore.load('projection-payments')).map(({ type }) => type);
  const asked = await requestPayment(baseUrl, paymentRequest('before'));
  const { data } = (await asked.json()) as { data: { transaction_id: string } };

  let requesting = true;
  const rebuilding = (async () => {
    let killed = start(t, ['rebuild', 'payments']);
    await until(async () => {
      // On a busy machine it may give up, because a store has not answered in time.
      if (killed.exitCode !== null) killed = start(t, ['rebuild', 'payments']);
      return (await types()).length > 0;
    });
    killed.kill('SIGKILL');
    await until(async () => (await types()).length === 2);
    t.deepEqual(await types(), ['ProjectionRebuildRequested', 'ProjectionRebuilt'], 'the role took it over');
    const outcomes: Awaited<ReturnType<typeof runLedger>>[] = [];
    do outcomes.push(await runLedger(['rebuild', 'payments'], settings));
    while (requesting);
    return outcomes;
  })();
  const statuses = new Map<number, number>();
  await inParallel(100, async (number) => {
    const answer =
      number % 2 === 0
        ? await requestPayment(baseUrl, paymentRequest(`D-${number}`))
        : await fetch(`${baseUrl}/generic/receipt/${data.transaction_id}`);
    await answer.text();
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  });
  requesting = false;
  t.deepEqual(
    (await rebuilding).filter(({ code }) => code !== 0),
    [],
  );
  t.deepEqual([...statuses], [[200, 100]]);

  await until(async () => {
    const [row] = await query(databaseUrl, 'select count(*)::integer as count from payments.payments');
    return row?.count === 51;
  });
  const compared = await runLedger(['rebuild', 'payments', '--dry-run'], settings);
  t.is(compared.stdout, 'payments: of 103 rows none differs.\n', compared.stderr);
  t.is(compared.code, 0);
  await query(
    databaseUrl,
    `update payments.payments set status = 'succeeded' where transaction_id = '${data.transaction_id}'`,
  );
  const found = await runLedger(['rebuild', '--dry-run', 'payments'], settings);
  t.is(found.code, 1);
  t.is(
    found.stdout,
    `payments: table payments: The row ${data.transaction_id} is not what the events lead to (status)\npayments: of 103 rows 1 differ.\n`,
  );

  const before = (await types()).length;
  let interrupted = start(t, ['rebuild']);
  let complaint = text(interrupted.stderr);
  await until(async () => {
    // As above.
    if (interrupted.exitCode !== null) {
      t.log(await complaint);
      interrupted = start(t, ['rebuild']);
      complaint = text(interrupted.stderr);
    }
    return (await types()).length > before;
  });
  interrupted.kill('SIGINT');
  const [code] = await once(interrupted, 'exit');
  t.is(code, 130);
  t.true((await complaint).endsWith('Interrupted. `ledger rebuild` continues from there.\n'));
  t.notRegex(ledger.projections.output(), /"level":(40|50|60)/, 'the role has nothing to complain of');

  const unknown = await runLedger(['rebuild', 'nonsense'], settings);
  t.is(unknown.code, 2);
  t.regex(unknown.stderr, /There is no projection nonsense; there are payments/);
  const list = await runLedger(['rebuild', 'reactor_deliveries'], settings);
  t.is(list.code, 2);
  t.regex(list.stderr, /reactor_deliveries is the to-do list of the reactors and no read model/);
});
