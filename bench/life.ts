// A payment's life (request, gateway's result, callback, rows): CPU time over all processes, and what the stores are asked
// for. With --peers, beside two other servers that do the same for a merchant, in alternating rounds. Run alone:
// npm run bench life -- --peers
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  inParallel,
  type Ledger,
  type Merchants,
  pay,
  type Stores,
  startLedger,
  startMerchants,
  startStores,
} from './ledger.ts';
import { cpuMsOf, path, startModule, stopProcess } from './processes.ts';
import { quantile, type Row } from './row.ts';

/** A smaller share for a shorter run: BENCH_SHARE=0.2 npm run bench life */
const share = Number(process.env.BENCH_SHARE ?? 1);
const loads = [
  { inFlight: 64, payments: 1_000 * share },
  { inFlight: 32, payments: 600 * share },
  { inFlight: 1, payments: 150 * share },
] as const;
const rounds = 3;
const warmUp = 1_500 * share;

type Figures = Record<string, number>;
/** A server that payments are made with. `cpuMs` is by kind of process; `settled` resolves once nothing is left to do. */
type Server = {
  name: string;
  port: number;
  cpuMs(): Figures;
  counters?(): Promise<Figures>;
  settled?(): Promise<void>;
  stop(): Promise<unknown>;
};
type Measured = { cpu: Figures; totalMs: number; counted: Figures };

/** Takes about two minutes, twice as long with peers. */
export async function benchLife(withPeers = process.argv.includes('--peers')): Promise<Row[]> {
  const stores = await startStores();
  const merchants = await startMerchants(10);
  const servers: Server[] = [];
  try {
    servers.push(asServer(await startLedger(stores)));
    if (withPeers) servers.push(await startPeer('emmett', stores), await startPeer('plain', stores));
    for (const server of servers) await measure(server, merchants, 64, warmUp);
    const rows: Row[] = [];
    for (const { inFlight, payments } of loads) {
      const all = new Map<string, Measured[]>(servers.map(({ name }) => [name, []]));
      for (let round = 0; round < rounds; round += 1)
        for (const server of servers)
          all.get(server.name)?.push(await measure(server, merchants, inFlight, payments));
      rows.push(...rowsOf(inFlight, all));
    }
    return rows;
  } finally {
    for (const server of servers) await server.stop();
    merchants.close();
    await stores.stop();
  }
}

function asServer(ledger: Ledger): Server {
  const { cpuMs, counters, query, stop, ports } = ledger;
  const count = (sql: string) => query(sql).catch(() => 0);
  // PostgreSQL's CPU includes these queries: the one that reads all payments comes last.
  const settled = async () => {
    while (
      (await count(`select count(*) as value from reactor_deliveries.deliveries where state = 'due'`)) > 0
    )
      await sleep(100);
    while ((await count(`select count(*) as value from payments.payments where status <> 'succeeded'`)) > 0)
      await sleep(100);
  };
  return { name: 'ledger', port: ports[0] ?? 0, cpuMs, counters, settled, stop };
}

async function startPeer(name: 'emmett' | 'plain', { createDatabase, postmaster }: Stores): Promise<Server> {
  if (!existsSync(path('peers/node_modules')))
    throw new Error('Peers need their dependencies first: npm ci --prefix bench/peers');
  const { child, port } = await startModule(`peers/${name}.mjs`, [await createDatabase(name)]);
  return {
    name,
    port,
    cpuMs: () => ({ server: cpuMsOf(child.pid), PostgreSQL: cpuMsOf(postmaster.pid) }),
    stop: () => stopProcess(child),
  };
}

/** Per payment. */
async function measure(
  server: Server,
  merchants: Merchants,
  inFlight: number,
  payments: number,
): Promise<Measured> {
  const [counted, cpu] = [await server.counters?.(), server.cpuMs()];
  await inParallel(
    inFlight,
    (begun) => begun >= payments,
    () => pay(server.port, merchants),
  );
  await server.settled?.();
  const per = (after: Figures = {}, before: Figures = {}): Figures =>
    Object.fromEntries(
      Object.entries(after).map(([name, value]) => [name, (value - (before[name] ?? 0)) / payments]),
    );
  const used = per(server.cpuMs(), cpu);
  const totalMs = Object.values(used).reduce((sum, each) => sum + each, 0);
  return { cpu: used, totalMs, counted: per(await server.counters?.(), counted) };
}

/** Beyond these, the ledger costs too much beside what the peers do. */
const targets: Readonly<Record<string, string>> = {
  '64 in flight: ledger': '<= 3.5',
  '64 in flight: stream reads': '<= 1',
  '64 in flight: Postgres statements': '<= 5',
  '64 in flight: commits': '<= 0.6',
  '32 in flight: ledger beside emmett': 'ratio <= 1',
  '32 in flight: ledger beside plain': 'ratio <= 3',
  '1 in flight: ledger beside emmett': 'ratio <= 1.5',
  '1 in flight: ledger beside plain': 'ratio <= 4',
};

/** What a peer does not do. */
const notes: Readonly<Record<string, string>> = {
  emmett:
    'a durable callback (it tries once), hash chain, sealing, journal, to-do list, a store apart from the rows',
  plain: 'events (a row is overwritten), a durable callback (it tries once), journal, audit, sealing',
};

function rowsOf(inFlight: number, all: ReadonlyMap<string, readonly Measured[]>): Row[] {
  const median = (name: string, of: (measured: Measured) => number | undefined) =>
    quantile(all.get(name)?.map((each) => of(each) ?? 0) ?? [], 0.5);
  const row = (name: string, value: number, unit: string, ratio?: number): Row => {
    const named = `${inFlight} in flight: ${name}`;
    const target = targets[named];
    return { name: named, value, unit, ...(ratio && { ratio }), ...(target && { target }) };
  };
  const ledgerMs = median('ledger', ({ totalMs }) => totalMs);
  const [ledger] = all.get('ledger') ?? [];
  return [
    row('ledger', ledgerMs, 'ms CPU'),
    ...Object.keys(ledger?.cpu ?? {}).map((name) =>
      row(
        `  ${name}`,
        median('ledger', ({ cpu }) => cpu[name]),
        'ms CPU',
      ),
    ),
    ...Object.keys(ledger?.counted ?? {}).map((name) =>
      row(
        name,
        median('ledger', ({ counted }) => counted[name]),
        'a payment',
      ),
    ),
    ...[...all.keys()].slice(1).flatMap((peer) => {
      const peerMs = median(peer, ({ totalMs }) => totalMs);
      return [
        { ...row(peer, peerMs, 'ms CPU'), note: notes[peer] ?? '' },
        row(`ledger beside ${peer}`, ledgerMs, 'ms CPU', ledgerMs / peerMs),
      ];
    }),
  ];
}
