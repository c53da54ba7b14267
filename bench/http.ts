// POST /generic/request compared with a bare Koa handler that does one append to the same event store: the cost of
// authentication, validation, decision, hash chain and payment page, as CPU time of the HTTP process alone. Run alone:
// npm run bench http
import { forMs, inParallel, newRequest, post, startLedger, startStores } from './ledger.ts';
import { cpuMsOf, startModule, stopProcess } from './processes.ts';
import { quantile, type Row } from './row.ts';

const inFlight = 64;
const rounds = 5;
const roundMs = 2_000;

/** Takes about half a minute. */
export async function benchHttp(): Promise<Row[]> {
  const stores = await startStores();
  const bare = await startModule('bare-handler.ts', [stores.esdbUrl]);
  const ledger = await startLedger(stores, { projections: 0, reactors: 0 });
  const [port = 0] = ledger.ports;
  const httpMs = () => ledger.cpuMs().http;
  const measured = [
    { cost: [] as number[], cpuMs: () => cpuMsOf(bare.child.pid), ask: () => post(bare.port, '/', {}) },
    { cost: [] as number[], cpuMs: httpMs, ask: () => post(port, '/generic/request', newRequest()) },
    {
      cost: [] as number[],
      cpuMs: httpMs,
      ask: () => post(port, '/generic/request', newRequest(), 'text/html'),
    },
  ];
  try {
    // In turns, so that other load on the machine affects all; the first two rounds only warm up.
    for (let round = -2; round < rounds; round += 1)
      for (const { cost, cpuMs, ask } of measured) {
        const before = cpuMs();
        const { length } = await inParallel(inFlight, forMs(roundMs), ask);
        if (round >= 0) cost.push(((cpuMs() - before) / length) * 1000);
      }
    const [floor = 1, json = 0, html = 0] = measured.map(({ cost }) => quantile(cost, 0.5));
    const unit = 'us CPU';
    return [
      { name: 'bare Koa handler with one append', value: floor, unit },
      { name: 'JSON request', value: json, unit, ratio: json / floor, target: 'ratio <= 1.3' },
      { name: 'HTML request', value: html, unit, ratio: html / floor, target: 'ratio <= 1.7' },
    ];
  } finally {
    await ledger.stop();
    await stopProcess(bare.child, 'SIGKILL');
    await stores.stop();
  }
}
