/** Staff: they import exports, rebuild projections, resolve what waits for them, refund, and verify. */
import { isDeepStrictEqual } from 'node:util';
import { createLog } from '@ledger/kernel/log.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { rebuild } from '@ledger/projections/rebuild/rebuild.ts';
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { lastCheck } from '../../../src/audit/background-check/schedule.ts';
import { verify } from '../../../src/audit/verify/verify.ts';
import type { DecideApproval, TakeAction } from '../../../src/commands/approvals.ts';
import { Refused } from '../../../src/commands/decider.ts';
import { createExecute } from '../../../src/commands/execute.ts';
import { paymentDecider } from '../../../src/commands/payment.ts';
import { createExecuteRequest } from '../../../src/commands/projection-requests.ts';
import type { Sen } from '../../../src/common/money.ts';
import type { Config } from '../../../src/config/config.ts';
import type { Approval, StaffAction } from '../../../src/events/approvals.ts';
import { chargesOf } from '../../../src/events/charges.ts';
import { exceptionsOf, resolutionsFor } from '../../../src/events/exceptions.ts';
import { noPayment, paymentStream } from '../../../src/events/payment.ts';
import { createLook } from '../../../src/monitoring/health.ts';
import { allProjections } from '../../../src/projections/all.ts';
import { reconcile } from '../../../src/reconciliation/reconcile.ts';
import { openStores } from '../../../src/roles/stores.ts';
import { deliveryList } from '../../../src/to-do/delivery-list.ts';
import { requeryList } from '../../../src/to-do/requery-list.ts';
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { Random } from '../engine/random.ts';
import type { Report } from '../violations.ts';
import type { Bank } from './bank.ts';
import { createErasures } from './erasures.ts';
import { exportAt, fileOf } from './exports.ts';
import { malaysianTime } from './gateway.ts';
import { createQuarantine } from './quarantine.ts';
import { createSendAgain } from './send-again.ts';
import { createSettlements } from './settlements.ts';
import { createVerdicts } from './verdicts.ts';

export type Staff = ReturnType<typeof createStaff>;
type Confirmed = { transactionId: string; action: StaffAction };

/** Above it, two people have to agree, at some of the agencies. */
const approvalAboveSen = 100_000 as Sen;

/** To be called in the process of the staff. */
export function createStaff({
  process,
  bank,
  logCheck,
  history,
  report,
  servesOldState,
  config,
}: {
  process: SimulatedProcess;
  bank: Bank;
  logCheck: LogCheck;
  history: History;
  report: Report;
  /** Whether a node of the event store may answer with an old state. */
  servesOldState: () => boolean;
  config: Config;
}) {
  const { databaseUrl, transactionIdKey } = config;
  const log = createLog('silent', 'staff');
  const db = connectPostgres({ url: databaseUrl, log });
  const stores = openStores(config, log, process.runtime);
  const { eventStore, personalData, runtime } = stores;
  const execute = createExecute({ eventStore, decider: paymentDecider });
  const executeRequest = createExecuteRequest(eventStore);
  const confirmed: Confirmed[] = [];
  const causeOf = (actor: string) => {
    const commandId = runtime.uuid();
    return { commandId, correlationId: commandId, causationId: commandId, actor };
  };

  const termsFor = (random: Random) => ({
    toldOf: [],
    takesParts: false,
    approvalAboveSen: random.chance(0.5) ? approvalAboveSen : null,
  });

  async function run(id: string, by: string, command: TakeAction | DecideApproval, what: string) {
    try {
      const executed = await execute(paymentStream(id), command, causeOf(by));
      history.tell(`${by}: ${what} of ${id}`);
      return executed;
    } catch (error) {
      const told = error instanceof Refused ? error.code : String(error).slice(0, 200);
      history.tell(`${by}: ${what} of ${id} fails: ${told}`);
      return null;
    }
  }

  /** Acts as the console does. If somebody else has to agree, the same person tries too, and two may decide at once. */
  async function act(id: string, by: string, action: StaffAction, random: Random): Promise<void> {
    const context = { at: runtime.now().toISOString(), by, terms: termsFor(random) };
    const what = action.kind === 'refund' ? `refund ${action.gatewayReference}` : action.resolution;
    const taken = await run(id, by, { type: 'TakeAction', ...context, action }, what);
    const { state } = taken ?? { state: noPayment };
    if (!taken || state.status === 'none') return;
    const isSame = (each: Approval) => each.decided === null && isDeepStrictEqual(each.action, action);
    const proposal = state.approvals?.find(isSame);
    if (!proposal) return void confirmed.push({ transactionId: id, action });
    const deciders = random.chance(0.3) ? [by, 'staff:two', 'staff:three'] : ['staff:two'];
    await Promise.all(
      deciders.map(async (decider) => {
        const outcome = random.chance(0.7) ? 'granted' : 'rejected';
        const decided = { at: runtime.now().toISOString(), by: decider, terms: context.terms };
        const command = {
          type: 'DecideApproval',
          ...decided,
          no: proposal.no,
          outcome,
          note: 'Seen',
        } as const;
        const done = await run(id, decider, command, `${what} is ${outcome}`);
        if (done && outcome === 'granted') confirmed.push({ transactionId: id, action });
      }),
    );
  }

  /** Requests something of a projection in the console. The role that keeps its tables does it. */
  async function request(
    projection: string,
    command: Parameters<typeof executeRequest>[1],
    what: string,
  ): Promise<void> {
    try {
      await executeRequest(projection, command, causeOf('staff:one'));
      history.tell(`staff: request ${what}`);
    } catch (error) {
      history.tell(`staff: the request ${what} fails: ${String(error).slice(0, 200)}`);
    }
  }

  return {
    verdicts: createVerdicts({ bank, logCheck, history, causeOf, stores }),
    settlements: createSettlements({ bank, logCheck, history, report, causeOf, db, servesOldState, stores }),

    erasures: createErasures({ stores, db, logCheck, history, causeOf }),

    quarantine: createQuarantine({ logCheck, history, causeOf, stores }),

    sendAgain: createSendAgain({ logCheck, history, causeOf, stores }),

    /** What `/readyz` says of the projections, within a second. */
    look: createLook({
      sealingRefused: async () => null,
      isReadOnly: async () => false,
      eventStore,
      projections: [...allProjections, deliveryList, requeryList],
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

    /** As the console does. */
    async requestRebuild(projection: string): Promise<void> {
      const at = runtime.now().toISOString();
      await request(projection, { type: 'RequestRebuild', at, projection }, `to rebuild ${projection}`);
    },

    /** Requests, as the console does, that all parked streams are tried again. */
    async requestRetries(): Promise<void> {
      const statuses = await projectionStatus(db).catch(() => []);
      const at = runtime.now().toISOString();
      for (const { name, parked } of statuses)
        for (const { stream } of parked)
          await request(name, { type: 'RequestRetry', at, stream }, `to try ${stream} again in ${name}`);
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
     * Resolves most of the exceptions that wait, and refunds some payments, in whole or in part; at times by two members of
     * staff at once. What is confirmed to one of them stays as it is.
     */
    async settleMoney(random: Random): Promise<void> {
      logCheck.look();
      const actors = () => (random.chance(0.3) ? ['staff:one', 'staff:another'] : ['staff:one']);
      for (const [id, { state }] of logCheck.payments) {
        if (state.status === 'none') continue;
        for (const exception of exceptionsOf(state)) {
          if (exception.resolved || random.chance(0.2)) continue;
          const { resultNo } = exception;
          const choices = resolutionsFor(state, exception);
          const resolve = (by: string) => {
            const resolution = random.pick(choices);
            return act(
              id,
              by,
              { kind: 'resolution', resultNo, resolution, note: 'As the bank says' },
              random,
            );
          };
          await Promise.all(actors().map(resolve));
        }
        for (const { resultNo: chargeNo, leftSen } of chargesOf(state)) {
          if (leftSen === 0 || random.chance(0.8)) continue;
          const amountSen = (random.chance(0.5) ? leftSen : random.integer(1, leftSen)) as Sen;
          const isSameRefund = random.chance(0.5);
          const refund = (by: string) => {
            const gatewayReference = `REFUND-${chargeNo}-${amountSen}${isSameRefund ? '' : by}`;
            return act(
              id,
              by,
              { kind: 'refund', chargeNo, amountSen, gatewayReference, reason: 'Asked' },
              random,
            );
          };
          await Promise.all(actors().map(refund));
        }
      }
    },

    /** What was confirmed to them. */
    confirmed: (): readonly Confirmed[] => confirmed,

    /** What the daily verification found last, as the console shows it. */
    lastVerified: () => lastCheck(db, 'verify').catch(() => null),

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
