/**
 * One process at a time does a piece of work; the others stand by. The locks belong to a Postgres session, one for all
 * leaderships of a process, so they are released as soon as it dies. A process that stands still, stopped or frozen, cannot
 * ask for anything: Postgres then ends its session. Leading only saves work: the checkpoint is what prevents processing twice.
 */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { openLeadLocks, ownProcess } from './leader-locks.ts';
import { givesUp } from './leader-shares.ts';
import { createClient } from './pool.ts';

const tryEveryMs = 1_000;
const heartbeatMs = 5_000;
const deadAfterMs = 20_000;
const yieldMs = 2 * tryEveryMs;
const closeWithinMs = 1_000;
/** How long nobody gives this process a leadership in which it failed; it still takes one that is free. */
const doubtMs = 60_000;

export type LeaderElection = ReturnType<typeof createLeaderElection>;

type Dependencies = {
  databaseUrl: string;
  runtime: Pick<Runtime, 'monotonicMs' | 'sleep'>;
};

/** The election of all that a process leads. It has a session while something is led or waited for. */
export function createLeaderElection({ databaseUrl, runtime }: Dependencies) {
  const doubtedUntilMs = new Map<string, number>();
  const isInDoubt = (name: string) => (doubtedUntilMs.get(name) ?? 0) > runtime.monotonicMs();
  let session: Session | null = null;

  return {
    /**
     * Runs `work` once this process leads `name`; its signal aborts when the leadership is lost or `signal` aborts. It also
     * aborts when the leadership is given to another process; then the work is begun again when this process leads again.
     * Resolves to what the work does, and to null without it: when `signal` aborts while it waits, or another process
     * leads and this one does not wait. Throws what `work` throws, and the connection's error when the session could not
     * be opened or was lost. A process asks for a name only once at a time.
     */
    async lead<Result>(
      name: string,
      { signal, waits = true }: { signal: AbortSignal; waits?: boolean },
      work: (leading: AbortSignal) => Promise<Result>,
    ): Promise<Result | null> {
      do {
        if (!session || session.lost.aborted) session = openSession({ databaseUrl, runtime }, isInDoubt);
        const { lost, enter, leave } = session;
        const candidate = createCandidate(name, waits);
        let hasFailed = false;
        try {
          enter(candidate);
          if (!(await turnOf(candidate, waits ? AbortSignal.any([signal, lost]) : lost))) {
            lost.throwIfAborted();
            return null;
          }
          const leading = AbortSignal.any([signal, lost, candidate.giving.signal]);
          const result = await work(leading).catch((error: unknown) => {
            hasFailed = !leading.aborted;
            throw error;
          });
          lost.throwIfAborted();
          if (!candidate.giving.signal.aborted) return result;
        } finally {
          await leave(candidate);
          if (hasFailed) doubtedUntilMs.set(name, runtime.monotonicMs() + doubtMs);
          // A process that could not do the work, or gives it up, lets those that stand by try first.
          if (waits && (hasFailed || candidate.giving.signal.aborted)) await runtime.sleep(yieldMs, signal);
        }
      } while (!signal.aborted);
      return null;
    },
  };
}

export type LeadNow = Dependencies & { name: string; signal: AbortSignal };

/** Does `work`, with a session of its own, unless another process does work of this name; then it resolves to null. */
export async function leadNow<Result>(
  { name, signal, ...dependencies }: LeadNow,
  work: (leading: AbortSignal) => Promise<Result>,
): Promise<Result | null> {
  return await createLeaderElection(dependencies).lead(name, { signal, waits: false }, work);
}

type Candidate = ReturnType<typeof createCandidate>;

const createCandidate = (name: string, waits: boolean) => ({
  name,
  waits,
  /** Resolves to whether it leads. */
  turn: Promise.withResolvers<boolean>(),
  leads: false,
  /** Others see that it stands by. */
  isShown: false,
  /** Aborts when it has to give up the leadership. */
  giving: new AbortController(),
});

/** False once the signal aborts. */
async function turnOf({ turn }: Candidate, signal: AbortSignal): Promise<boolean> {
  const end = () => turn.resolve(false);
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  return await turn.promise.finally(() => signal.removeEventListener('abort', end));
}

type Session = ReturnType<typeof openSession>;

function openSession({ databaseUrl, runtime }: Dependencies, isInDoubt: (name: string) => boolean) {
  const client = createClient(databaseUrl, 'ledger leader election', deadAfterMs);
  const lost = new AbortController();
  client.on('error', (error) => lost.abort(error));
  const locks = openLeadLocks(client);
  const candidates = new Map<string, Candidate>();
  let woken = new AbortController();
  const closed = new Promise<void>((resolve) => {
    lost.signal.addEventListener('abort', () => resolve(close()));
  });
  void keepAlive().catch((error) => lost.abort(error));

  async function keepAlive(): Promise<void> {
    let sharedMs = runtime.monotonicMs();
    while (!lost.signal.aborted) {
      woken = new AbortController();
      await tryToLead(candidates, locks, isInDoubt);
      if (runtime.monotonicMs() - sharedMs >= heartbeatMs) {
        sharedMs = runtime.monotonicMs();
        await share(candidates, locks);
      }
      // Polls, because a query that waits would hold back vacuum.
      const waits = [...candidates.values()].some(({ leads }) => !leads);
      await runtime.sleep(waits ? tryEveryMs : heartbeatMs, woken.signal);
    }
  }

  async function close(): Promise<void> {
    woken.abort();
    // A frozen server never confirms the end of a connection: it must not keep a process waiting.
    const closed = new AbortController();
    await Promise.race([client.end(), runtime.sleep(closeWithinMs, closed.signal)]);
    closed.abort();
    client.connection.stream.destroy();
  }

  return {
    lost: lost.signal,
    enter(candidate: Candidate): void {
      if (candidates.has(candidate.name)) throw new Error(`This process asks for ${candidate.name} twice`);
      candidates.set(candidate.name, candidate);
      woken.abort();
    },
    /** Lets others lead. Never rejects. */
    async leave(candidate: Candidate): Promise<void> {
      if (candidates.get(candidate.name) !== candidate) return;
      candidates.delete(candidate.name);
      if (candidates.size === 0) lost.abort(new Error('Nothing is led any more'));
      // A session that is lost has nothing to give back, and a frozen server would not answer.
      if (lost.signal.aborted) return await closed;
      try {
        if (candidate.leads) await locks.giveBack([candidate.name]);
        if (candidate.isShown) await locks.hideStandBy([candidate.name]);
      } catch (error) {
        lost.abort(error);
      }
    },
  };
}

/** By name. Somebody may enter or leave at any time. */
type Candidates = ReadonlyMap<string, Candidate>;
type LeadLocks = ReturnType<typeof openLeadLocks>;

/** Asks even if nothing is wanted, so that Postgres keeps the session. */
async function tryToLead(
  candidates: Candidates,
  locks: LeadLocks,
  isInDoubt: (name: string) => boolean,
): Promise<void> {
  const wanted = [...candidates.values()].filter(({ leads }) => !leads);
  const shown = wanted.filter((each) => each.waits && !each.isShown && !isInDoubt(each.name));
  for (const each of shown) each.isShown = true;
  if (shown.length > 0) await locks.showStandBy(namesOf(shown));
  const taken = await locks.take(namesOf(wanted));
  const left: string[] = [];
  for (const candidate of wanted) {
    const isTaken = taken.includes(candidate.name);
    const hasLeft = candidates.get(candidate.name) !== candidate;
    if (isTaken && hasLeft) left.push(candidate.name);
    candidate.leads = isTaken && !hasLeft;
    if (candidate.leads || !candidate.waits) candidate.turn.resolve(candidate.leads);
  }
  if (left.length > 0) await locks.giveBack(left);
}

/** Gives up leaderships of which another process should have some. */
async function share(candidates: Candidates, locks: LeadLocks): Promise<void> {
  const led = [...candidates.values()].filter(({ leads }) => leads);
  if (led.length < 2) return;
  const candidacies = await locks.candidaciesFor([...candidates.keys()]);
  for (const { name, giving } of led) if (givesUp(candidacies, { name, process: ownProcess })) giving.abort();
}

const namesOf = (candidates: readonly Candidate[]) => candidates.map(({ name }) => name);
