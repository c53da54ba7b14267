// What a full ledger costs beside one that has just begun: the same requests, in turns, with 1,000 payments in the log and
// with 200,000. For another number: BENCH_PAYMENTS=1000000 npm run bench size
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { newRequest, pay, post, secret, startLedger, startMerchants, startStores } from './ledger.ts';
import { fill, idOf } from './payments-log.ts';
import { cpuMsOf, memoryOf } from './processes.ts';
import { quantile, type Row } from './row.ts';

const few = 1_000;
const many = Number(process.env.BENCH_PAYMENTS ?? 200_000);
const eventsOfPayment = 5;
const rounds = 10;
/** Of 500 calls altogether, the p99 swings by half. */
const callsPerRound = 200;
/** A merchant may ask for 300 a minute. */
const listsPerRound = 15;

type Filled = Awaited<ReturnType<typeof startFilled>>;

/** Takes about ten minutes and 4 GB in the temporary folder. */
export async function benchSize(): Promise<Row[]> {
  const merchants = await startMerchants(10);
  const ledgers: Filled[] = [];
  try {
    ledgers.push(await startFilled(few), await startFilled(many));
    const calls: Readonly<Record<string, (filled: Filled) => Promise<unknown>>> = {
      'a request': ({ port }) => post(port, '/generic/request', newRequest()),
      'a life, to the callback': ({ port }) => pay(port, merchants),
      'list of the newest payments of a merchant': ({ port }) => get(port, '/generic/payments'),
      'list of the payments with a reference': ({ port }) => get(port, '/generic/payments?trans_id=R-50'),
      'an old payment of a merchant': ({ port }) => get(port, `/generic/payments/${idOf(50)}`),
      'the receipt page of an old payment': ({ port }) => get(port, `/generic/receipt/${idOf(50)}`),
    };
    const rows: Row[] = [];
    for (const [name, call] of Object.entries(calls)) rows.push(...(await inTurns(name, call, ledgers)));
    const [small, large] = ledgers;
    for (const role of ['http', 'projections', 'reactors'] as const) {
      const [before = 1, after = 0] = [small, large].map((each) =>
        memoryOf(each?.ledger.processOf(role)?.pid),
      );
      rows.push({ name: `memory of ${role} (PSS)`, value: after, unit: 'MB', ratio: after / before });
    }
    const [before = 1, after = 0] = [small, large].map((each) => memoryOf(each?.stores.store.pid));
    rows.push({ name: 'memory of the event store (PSS)', value: after, unit: 'MB', ratio: after / before });
    return rows;
  } finally {
    for (const { ledger, stores } of ledgers) {
      await ledger.stop();
      await stores.stop();
    }
    merchants.close();
  }
}

/** Resolves once everything has been projected and nothing is left to do. */
async function startFilled(payments: number) {
  const stores = await startStores((file) => fill(file, payments * eventsOfPayment));
  const ledger = await startLedger(stores);
  const projected = () => stores.query('select count(*) as value from payments.payments').catch(() => 0);
  while ((await projected()) < payments) await sleep(1_000);
  // Other projections may still be behind, and VACUUM has its work.
  const busyMs = () => cpuMsOf(process.pid);
  for (let before = 0, now = busyMs(); now - before > 250; [before, now] = [now, busyMs()])
    await sleep(1_000);
  return { stores, ledger, port: ledger.ports[0] ?? 0 };
}

async function inTurns(
  name: string,
  call: (filled: Filled) => Promise<unknown>,
  ledgers: readonly Filled[],
): Promise<Row[]> {
  const times = ledgers.map((): number[] => []);
  for (let round = 0; round <= rounds; round += 1)
    for (const [index, ledger] of ledgers.entries())
      for (let made = 0; made < (name.startsWith('list') ? listsPerRound : callsPerRound); made += 1) {
        const tookMs = await timed(() => call(ledger));
        // The first round only warms up.
        if (round > 0) times[index]?.push(tookMs);
      }
  const [small = [], large = []] = times;
  return [0.5, 0.99].map((share) => {
    const value = quantile(large, share);
    const ratio = value / quantile(small, share);
    const isGoal = name === 'a request' && share === 0.99;
    return {
      name: `${name}, p${share * 100}, ${many.toLocaleString('en')} payments`,
      value,
      unit: 'ms',
      ratio,
      ...(isGoal && { target: 'ratio <= 1.2' }),
    };
  });
}

class TooMany extends Error {}

/** A merchant may ask for so many lists a minute: then it is asked again. */
async function timed(call: () => Promise<unknown>): Promise<number> {
  for (;;) {
    const startedMs = performance.now();
    try {
      await call();
      return performance.now() - startedMs;
    } catch (error) {
      if (!(error instanceof TooMany)) throw error;
      await sleep(5_000);
    }
  }
}

function get(port: number, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = { authorization: `Bearer ${secret}`, 'x-merchant-code': 'bench-app' };
  request({ port, host: '127.0.0.1', path, headers }, (response) => {
    response.resume().on('end', () => {
      if (response.statusCode === 200) resolve();
      else if (response.statusCode === 429) reject(new TooMany());
      else reject(new Error(`${path} answered ${response.statusCode}`));
    });
  })
    .on('error', reject)
    .end();
  return promise;
}
