/** Staff: they import exports, rebuild projections, resolve what waits for them, and verify. */
import { createLog } from '@ledger/kernel/log.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { rebuild } from '@ledger/projections/rebuild/rebuild.ts';
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { verify } from '../../../src/audit/verify/verify.ts';
import { Refused } from '../../../src/commands/decider.ts';
import { createExecute } from '../../../src/commands/execute.ts';
import { paymentDecider } from '../../../src/commands/payment.ts';
import type { Config } from '../../../src/config/config.ts';
import { exceptionsOf, resolutionsFor } from '../../../src/events/exceptions.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { createLook } from '../../../src/monitoring/health.ts';
import { allProjections } from '../../../src/projections/all.ts';
import { reconcile } from '../../../src/reconciliation/reconcile.ts';
import { openStores } from '../../../src/roles/stores.ts';
import { toDoList } from '../../../src/to-do/projection.ts';
import { requeryList } from '../../../src/to-do/requeries.ts';
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { Random } from '../engine/random.ts';
import type { Bank } from './bank.ts';
import { malaysianTime, ringgit } from './gateway.ts';

export type Staff = ReturnType<typeof createStaff>;
type Resolved = { transactionId: string; resultNo: number; resolution: string };

const terms = { toldOf: [], takesParts: false, approvalAboveSen: null };

/** To be called in the process of the staff. */
export function createStaff({
  process,
  bank,
  logCheck,
  history,
  config,
}: {
  process: SimulatedProcess;
  bank: Bank;
  logCheck: LogCheck;
  history: History;
  config: Config;
}) {
  const { databaseUrl, transactionIdKey } = config;
  const log = createLog('silent', 'staff');
  const db = connectPostgres({ url: databaseUrl, log });
  const stores = openStores(config, log, process.runtime);
  const { eventStore, personalData, runtime } = stores;
  const execute = createExecute({ eventStore, decider: paymentDecider });
  const resolved: Resolved[] = [];
  const causeOf = (actor: string) => {
    const commandId = runtime.uuid();
    return { commandId, correlationId: commandId, causationId: commandId, actor };
  };

  return {
    /** What `/readyz` says of the projections, within a second. */
    look: createLook({
      sealingRefused: async () => null,
      eventStore,
      projections: [...allProjections, toDoList, requeryList],
      projectionStatus: () => projectionStatus(db),
      clockDifferenceMs: () => 0,
      runtime,
      log,
    }),

    /** Imports the gateway's export as it was at a time. */
    async importExport(atMs: number): Promise<void> {
      history.tell(`staff: import the gateway's export of ${malaysianTime(atMs)}`);
      try {
        const summary = await reconcile(
          { eventStore, db, transactionIdKey, runtime },
          {
            file: fileOf(exportAt(bank, atMs)),
            period: { from: null, to: null },
            madeAt: new Date(atMs).toISOString(),
            dryRun: false,
            waitMs: 60_000,
            newCause: () => causeOf('staff:one'),
            onBadRow: () => undefined,
            onDiscrepancy: () => undefined,
          },
        );
        history.tell(
          `staff: the import opened ${summary.opened} discrepancies and cleared ${summary.cleared}`,
        );
      } catch (error) {
        history.tell(`staff: the import failed: ${error instanceof Error ? error.name : 'unknown'}`);
      }
    },

    /** As `ledger rebuild`, while the program goes on. */
    async rebuild(name: string): Promise<void> {
      const projection = allProjections.find((each) => each.name === name);
      if (!projection) throw new Error(`There is no projection ${name}`);
      history.tell(`staff: rebuild ${name}`);
      const { signal } = new AbortController();
      const onProgress = () => undefined;
      try {
        const { events } = await rebuild({ ...stores, projection, db, databaseUrl, signal, onProgress });
        history.tell(`staff: ${name} is made again from ${events} events`);
      } catch (error) {
        history.tell(`staff: the rebuild of ${name} failed: ${String(error).slice(0, 200)}`);
      }
    },

    /**
     * Resolves most of the exceptions that wait, as the console does, at times by two members of staff at once. What is
     * confirmed to one of them stays as it is.
     */
    async resolveExceptions(random: Random): Promise<void> {
      logCheck.look();
      for (const [id, { state }] of logCheck.payments)
        for (const exception of state.status === 'none' ? [] : exceptionsOf(state)) {
          if (state.status === 'none' || exception.resolved || random.chance(0.2)) continue;
          const { resultNo } = exception;
          const choices = resolutionsFor(state, exception);
          const resolve = async (by: string) => {
            const resolution = random.pick(choices);
            const action = { kind: 'resolution', resultNo, resolution, note: 'As the bank says' } as const;
            const context = { at: runtime.now().toISOString(), by, terms };
            try {
              await execute(paymentStream(id), { type: 'TakeAction', ...context, action }, causeOf(by));
              resolved.push({ transactionId: id, resultNo, resolution });
              history.tell(`staff: result ${resultNo} of ${id} is ${resolution}`);
            } catch (error) {
              const told = error instanceof Refused ? error.code : String(error).slice(0, 200);
              history.tell(`staff: result ${resultNo} of ${id} cannot be ${resolution}: ${told}`);
            }
          };
          const staffNames = random.chance(0.3) ? ['staff:one', 'staff:another'] : ['staff:one'];
          await Promise.all(staffNames.map(resolve));
        }
    },

    /** What was confirmed to them. */
    resolved: (): readonly Resolved[] => resolved,

    /** What `ledger verify` reports; null if it could not run. */
    async verify(): Promise<{ kind: string; first: string }[] | null> {
      try {
        const { violations } = await verify(
          {
            eventStore,
            db,
            databaseUrl,
            personalData,
            trusted: null,
            runtime,
            log,
            signal: new AbortController().signal,
          },
          () => undefined,
        );
        return violations;
      } catch (error) {
        history.tell(`staff: verify failed: ${String(error).slice(0, 300)}`);
        return null;
      }
    },
  };
}

async function* fileOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** The gateway's export as it was at a time: an attempt that had not ended then is pending. */
function exportAt(bank: Bank, atMs: number): string {
  const statuses = { charged: '1', declined: '0', cancelled: '2', open: '3' } as const;
  const rows = [...bank.orders.values()]
    .filter((order) => order.startedAtMs <= atMs)
    .map((order) => {
      const hasEnded = order.status !== 'open' && order.endedAtMs <= atMs;
      const charge = bank.charges.find(({ orderNo }) => orderNo === order.orderNo);
      const wasCharged = charge && atMs < (charge.reversedAtMs ?? Number.POSITIVE_INFINITY);
      return [
        order.transactionId,
        order.chargeId,
        order.orderNo,
        hasEnded ? statuses[wasCharged ? 'charged' : order.status] : '3',
        ringgit(hasEnded ? (charge?.amountSen ?? order.amountSen) : order.amountSen),
        order.mode,
        malaysianTime(hasEnded ? order.endedAtMs : order.startedAtMs),
        order.merchant,
        'MYR',
      ].join(',');
    });
  const header =
    'TRANS_ID,PAYMENT_TRANS_ID,MERCHANT_ORDER_NO,STATUS,AMOUNT,PAYMENT_MODE,PAYMENT_DATETIME,MERCHANT_CODE,CURRENCY';
  return `${[header, ...rows].join('\n')}\n`;
}
