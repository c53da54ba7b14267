// What a reader is shown, whatever order appends of several processes, the projection, the clock and outages come in.
import { randomUUID } from 'node:crypto';
import { connectEventStore } from '@ledger/event-store/client.ts';
import { EventStoreUnavailable, type RecordedEvent } from '@ledger/event-store/event-store.ts';
import { createHeadCache, knownForMs } from '@ledger/event-store/head-cache.ts';
import type { Log } from '@ledger/kernel/log.ts';
import test from 'ava';
import fc from 'fast-check';
import { UnreadableEvent } from '../../../src/events/codec.ts';
import { chain, genesisHash } from '../../../src/events/envelope.ts';
import { createReadState } from '../../../src/http/server/read-state.ts';
import { log } from '../../projections/helpers.ts';
import { startServer } from '../../support/event-store.ts';
import { runs } from '../../support/property-runs.ts';
import { testRuntime } from '../../support/runtime.ts';

const server = await startServer();
const eventStore = connectEventStore({ url: server.url, log, runtime: testRuntime() });
test.after.always(async () => {
  await eventStore.close();
  await server.close();
});

/** The state of a stream is how many events it has; nobody may add one to a stream of this many. */
const finalCount = 8;
const counting = {
  initial: 0,
  read: () => ({ type: 'Counted' }),
  evolve: (count: number) => count + 1,
};

const process = fc.constantFrom('ours' as const, 'other' as const);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('append' as const), by: process, redirects: fc.boolean() }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('read' as const), follows: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('project' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(1, knownForMs / 2, knownForMs),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('eventStore' as const, 'postgres' as const) }) },
);

test('nobody is shown less than was told, and nothing outdated without saying so', async (t) => {
  const served = { rows: 0, folds: 0, outdated: 0 };
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }),
    async (steps) => {
      const streamName = `count-${randomUUID()}`;
      const isUp = { eventStore: true, postgres: true };
      let nowMs = 0;
      let row: { revision: number; state: number } | null = null;
      let loads = 0;
      /** When each revision was appended, by our process or by the other. */
      let hash = genesisHash;
      const appendedAtMs: number[] = [];
      /** What our process appended itself since it started. */
      let own = -1;
      /** The last redirect of either process. */
      let link = { revision: -1, atMs: 0 };

      const load: typeof eventStore.load = (name) => {
        if (!isUp.eventStore) return Promise.reject(new EventStoreUnavailable('down'));
        loads += 1;
        return eventStore.load(name);
      };
      const startProcess = () => {
        const heads = createHeadCache({ monotonicMs: () => nowMs });
        const watched = heads.watch({ append: eventStore.append, load });
        const findRow = () => (isUp.postgres ? Promise.resolve(row) : Promise.reject(new Error('down')));
        const read = createReadState({
          streamOf: () => streamName,
          decider: counting,
          findRow,
          isFinal: (count) => count >= finalCount,
          eventStore: watched,
          heads,
          log,
        });
        return { append: watched.append, read };
      };
      let ours = startProcess();

      for (const each of steps) {
        const last = appendedAtMs.length - 1;
        if (each.do === 'append' && isUp.eventStore && last + 1 < finalCount) {
          const { append } = each.by === 'ours' ? ours : eventStore;
          const commandId = randomUUID();
          const why = { commandId, correlationId: commandId, causationId: commandId, actor: 'gateway' };
          const events = chain([{ type: 'Counted', data: {} }], hash, why);
          hash = events[0]?.metadata.hash ?? '';
          await append(streamName, events, last === -1 ? 'no_stream' : last);
          appendedAtMs.push(nowMs);
          if (each.by === 'ours') own = last + 1;
          if (each.redirects) link = { revision: last + 1, atMs: nowMs };
        }
        if (each.do === 'project') row = { revision: last, state: last + 1 };
        if (each.do === 'pass') nowMs += each.ms;
        if (each.do === 'restart') {
          ours = startProcess();
          own = -1;
        }
        if (each.do === 'eventStore' || each.do === 'postgres') isUp[each.do] = !isUp[each.do];
        if (each.do !== 'read' || last === -1) continue;

        const before = loads;
        const isValid = link.revision >= 0 && nowMs - link.atMs < knownForMs;
        const told = each.follows && isValid ? link.revision : null;
        const found = await ours.read('', told).catch((error: unknown) => {
          t.true(error instanceof EventStoreUnavailable && !isUp.eventStore);
          t.true(!isUp.postgres || row === null, 'with a row there is an answer');
          return null;
        });
        if (!found) continue;
        const shown = found.state - 1;
        if (found.outdated) {
          t.false(isUp.eventStore);
          t.is(found.outdated.state, found.state);
          served.outdated += 1;
          continue;
        }
        t.true(shown >= own, 'not behind what its own process appended');
        if (told !== null) t.true(shown >= told, 'not behind the link');
        const recent = appendedAtMs.findLastIndex((atMs) => atMs <= nowMs - knownForMs);
        t.true(shown >= recent, 'not further behind than a head is known');
        if (loads > before) served.folds += 1;
        else served.rows += 1;
      }
    },
  );
  await fc.assert(property, { numRuns: runs(80) });
  t.log(served);
  t.true(Math.min(served.rows, served.folds, served.outdated) > 0);
});

test('while an event of a stream cannot be read, its row is shown, and says that it may be outdated', async (t) => {
  const row = { revision: 1, state: 2 };
  const readOf = (isFinal: boolean) =>
    createReadState({
      streamOf: () => 'count-unreadable',
      decider: {
        ...counting,
        read: () => {
          throw new UnreadableEvent('Unknown event type');
        },
      },
      findRow: async (id) => (id === 'none' ? null : row),
      isFinal: () => isFinal,
      eventStore: { load: async () => [{} as RecordedEvent] },
      heads: { revisionOf: () => null },
      log,
    });
  t.deepEqual(await readOf(false)('1'), { state: 2, outdated: row });
  t.deepEqual(await readOf(true)('1'), { state: 2, outdated: null });
  await t.throwsAsync(readOf(false)('none'), { instanceOf: UnreadableEvent });
});

test('a row behind what the process or the reader knows is shown as outdated, if nothing else is to be had', async (t) => {
  const row = { revision: 1, state: 2 };
  const readOf = (known: number | null) =>
    createReadState({
      streamOf: () => 'count-away',
      decider: counting,
      findRow: async () => row,
      isFinal: () => false,
      eventStore: { load: () => Promise.reject(new EventStoreUnavailable('down')) },
      heads: { revisionOf: () => known },
      log,
    });
  for (const [known, told, isOutdated] of [
    [1, null, false],
    [2, null, true],
    [2, 1, true],
    [1, 2, true],
    [null, 1, false],
    [null, 2, true],
  ] as const)
    t.deepEqual(await readOf(known)('1', told), { state: 2, outdated: isOutdated ? row : null });
});

test('when Postgres does not answer, the log says so, without the query', async (t) => {
  const lines: { reason: string }[] = [];
  const read = createReadState({
    streamOf: () => 'count-of-a-frozen-server',
    decider: { ...counting, initial: 1 },
    findRow: () => Promise.reject(new Error(`select * from counts where id = 'secret' - Query read timeout`)),
    isFinal: () => false,
    eventStore: { load: async () => [] },
    heads: { revisionOf: () => null },
    log: { warn: (fields: { reason: string }) => lines.push(fields) } as unknown as Log,
  });
  t.is((await read('1')).state, 1);
  t.deepEqual(lines, [{ reason: 'Query read timeout' }]);
});
