/** Staff: they import exports, rebuild projections, resolve what waits for them, refund, and verify. */
import { isDeepStrictEqual } from 'node:util';
import { createLog } from '@ledger/kernel/log.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { rebuild } from '@ledger/projections/rebuild/rebuild.ts';
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import type { KeyTerm } from '@ledger/transparency-log/key.ts';
import { lastCheck } from '../../../src/audit/background-check/schedule.ts';
import { verify } from '../../../src/audit/verify/verify.ts';
import type { DecideApproval, TakeAction } from '../../../src/commands/approvals.ts';
import { Refused } from '../../../src/commands/decider.ts';
import { createExecute } from '../../../src/commands/execute.ts';
import { paymentDecider } from '../../../src/commands/payment.ts';
import type { Sen } from '../../../src/common/money.ts';
import type { Config } from '../../../src/config/config.ts';
import type { Approval, StaffAction } from '../../../src/events/approvals.ts';
import { chargesOf } from '../../../src/events/charges.ts';
import { exceptionsOf, resolutionsFor } from '../../../src/events/exceptions.ts';
import { noPayment, paymentStream } from '../../../src/events/payment.ts';
import { createLook } from '../../../src/monitoring/health.ts';
import { allProjections } from '../../../src/projections/all.ts';
import { openStores } from '../../../src/roles/stores.ts';
import { deliveryList } from '../../../src/to-do/delivery-list.ts';
import { requeryList } from '../../../src/to-do/requery-list.ts';
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { Random } from '../engine/random.ts';
import { firstKeys, withKeysReplaced } from '../program/keys.ts';
import type { Report } from '../violations.ts';
import type { Bank } from './bank.ts';
import { createClerks } from './clerks.ts';
import { createErasures } from './erasures.ts';
import { createImports } from './imports.ts';
import { createProjectionRequests } from './projection-requests.ts';
import { createQuarantine } from './quarantine.ts';
import { createSendAgain } from './send-again.ts';
import { createSettlements } from './settlements.ts';
import { createSubjectAccess } from './subject-access.ts';
import type { Terminal } from './terminal.ts';
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
  mayMiss,
  pickHttp,
  mayBeRefused,
  terminal,
  killsImports,
  onLoad,
  config,
}: {
  process: SimulatedProcess;
  bank: Bank;
  logCheck: LogCheck;
  history: History;
  report: Report;
  /** Whether a node of the event store may answer with an old state. */
  servesOldState: () => boolean;
  /** Whether what is held about a person may not be found: their keys are lost, or what is read is old. */
  mayMiss: () => boolean;
  pickHttp: () => string;
  /** Whether a session of the console may end early. */
  mayBeRefused: boolean;
  terminal: Terminal;
  /** Whether imports of settlements are killed at times. */
  killsImports: boolean;
  /** They are about to do something to a stream, which they read first. */
  onLoad: (stream: string) => void;
  config: Config;
}) {
  const { databaseUrl } = config;
  const log = createLog('silent', 'staff');
  const db = connectPostgres({ url: databaseUrl, log });
  const opened = openStores(config, log, process.runtime);
  const { personalData, setKeys } = withKeysReplaced(opened, firstKeys);
  const load: typeof opened.eventStore.load = (stream, ...more) => {
    onLoad(stream);
    return opened.eventStore.load(stream, ...more);
  };
  const stores = { ...opened, eventStore: { ...opened.eventStore, load }, personalData };
  const { eventStore, runtime } = stores;
  const execute = createExecute({ eventStore, decider: paymentDecider });
  const confirmed: Confirmed[] = [];
  const causeOf = (actor: string) => {
    const commandId = runtime.uuid();
    return { commandId, correlationId: commandId, causationId: commandId, actor };
  };

  const common = { bank, logCheck, history, causeOf, stores };

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

  return {
    clerks: createClerks({ ...common, process, report, pickHttp, mayMiss, mayBeRefused }),

    verdicts: createVerdicts(common),
    settlements: createSettlements({ ...common, report, db, servesOldState, terminal, killsImports }),

    imports: createImports({ ...common, report, terminal, stores: { ...stores, db } }),

    erasures: createErasures({ ...common, db }),

    quarantine: createQuarantine(common),

    sendAgain: createSendAgain(common),

    requests: createProjectionRequests({ ...common, db }),

    subjectAccess: createSubjectAccess({ ...common, report, mayMiss, stores: { ...stores, db } }),

    /** What `/readyz` says of the projections. It waits for longer: a first answer over a slow network takes a second. */
    look: createLook({
      answerWithinMs: 5_000,
      sealingRefused: async () => null,
      isReadOnly: async () => false,
      eventStore,
      projections: [...allProjections, deliveryList, requeryList],
      projectionStatus: () => projectionStatus(db),
      clockDifferenceMs: () => 0,
      runtime,
      log,
    }),

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

    stores: { ...stores, db },

    /** They have these from now on. */
    setKeys,

    /** Opens what is sealed for whoever has all these data keys. */
    openBy: (data: readonly string[]) => withKeysReplaced(opened, { ...firstKeys, data }).personalData.open,

    /** What was confirmed to them. */
    confirmed: (): readonly Confirmed[] => confirmed,

    /** What the daily verification found last, as the console shows it. */
    lastVerified: () => lastCheck(db, 'verify').catch(() => null),

    /** What `ledger verify` reports; null if it could not run. */
    async verify(trusted: readonly KeyTerm[] | null): Promise<{ kind: string; first: string }[] | null> {
      try {
        const { violations } = await verify(
          {
            eventStore,
            db,
            databaseUrl,
            personalData,
            trusted,
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
