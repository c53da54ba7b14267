// Several http and reactors processes that are sent requests in turn, as a proxy does: the work for a payment must not rise
// with their number. Run alone: npm run bench scale
import { inParallel, pay, startLedger, startMerchants, startStores } from './ledger.ts';
import { quantile, type Row } from './row.ts';

const payments = 500;
const rounds = 3;

/** Takes about a minute. */
export async function benchScale(): Promise<Row[]> {
  const one = await cost(1);
  const three = await cost(3);
  return [
    { name: 'a payment with 1 http and 1 reactors', value: one, unit: 'ms CPU' },
    {
      name: 'a payment with 3 http and 3 reactors',
      value: three,
      unit: 'ms CPU',
      ratio: three / one,
      target: 'ratio <= 1.2',
    },
  ];
}

/** CPU time of a payment over all processes. */
async function cost(processes: number): Promise<number> {
  const stores = await startStores();
  const ledger = await startLedger(stores, { http: processes, reactors: processes });
  const merchants = await startMerchants(10);
  const cpuMs = () => Object.values(ledger.cpuMs()).reduce((sum, each) => sum + each, 0);
  let sent = 0;
  const next = () => {
    sent += 1;
    return ledger.ports[sent % ledger.ports.length] ?? 0;
  };
  const live = () =>
    inParallel(
      32,
      (begun) => begun >= payments,
      () => pay(next(), merchants),
    );
  try {
    for (let warmUp = 0; warmUp < 2 * processes; warmUp += 1) await live();
    const costs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const before = cpuMs();
      await live();
      costs.push((cpuMs() - before) / payments);
    }
    return quantile(costs, 0.5);
  } finally {
    await ledger.stop();
    merchants.close();
    await stores.stop();
  }
}
