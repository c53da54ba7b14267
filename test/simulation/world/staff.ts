/** Staff at the command line: they import exports, verify, and look at health. */
import { verify } from '../../../src/audit/verify/verify.ts';
import type { Config } from '../../../src/config/config.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { createLook } from '../../../src/monitoring/look.ts';
import { connectPostgres } from '../../../src/postgres/pool.ts';
import { allProjections } from '../../../src/projections/all.ts';
import { projectionStatus } from '../../../src/projections/runtime/checkpoints.ts';
import { reconcile } from '../../../src/reconciliation/reconcile.ts';
import { openStores } from '../../../src/roles/lifecycle.ts';
import { toDoList } from '../../../src/to-do/projection.ts';
import { requeryList } from '../../../src/to-do/requeries.ts';
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { Bank } from './bank.ts';
import { malaysianTime, ringgit } from './gateway.ts';

export type Staff = ReturnType<typeof createStaff>;

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
  const { eventStore, personalData, runtime } = openStores(config, log, process.runtime);
  let newestMs = 0;

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
      const isOlder = atMs < newestMs;
      newestMs = Math.max(newestMs, atMs);
      history.tell(
        `staff: import the gateway's export of ${malaysianTime(atMs)}${isOlder ? ', which is older' : ''}`,
      );
      logCheck.importing(isOlder);
      try {
        const summary = await reconcile(
          { eventStore, db, transactionIdKey, runtime },
          {
            file: fileOf(exportAt(bank, atMs)),
            period: { from: null, to: null },
            madeAt: new Date(atMs).toISOString(),
            dryRun: false,
            waitMs: 60_000,
            newCause: () => {
              const commandId = runtime.uuid();
              return {
                commandId,
                correlationId: commandId,
                causationId: commandId,
                actor: 'staff:simulation',
              };
            },
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
      logCheck.look();
      logCheck.importing(false);
    },

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
      return [
        order.transactionId,
        order.chargeId,
        order.orderNo,
        hasEnded ? statuses[order.status] : '3',
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
