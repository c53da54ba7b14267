// Commands on a real event store: races, conflicts, and what is written.
import { randomUUID } from 'node:crypto';
import {
  type EventStore,
  EventStoreUnavailable,
  WrongExpectedRevision,
} from '@ledger/event-store/event-store.ts';
import { KeysUnavailable } from '@ledger/personal-data/sealed.ts';
import test, { type ExecutionContext } from 'ava';
import { v5 as uuidV5 } from 'uuid';
import { Refused } from '../../src/commands/decider.ts';
import { createExecute, loadHead } from '../../src/commands/execute.ts';
import { type PaymentCommand, paymentDecider } from '../../src/commands/payment.ts';
import { UnreadableEvent } from '../../src/events/codec.ts';
import { type Cause, genesisHash, type Metadata } from '../../src/events/envelope.ts';
import { noPayment, paymentStream, readPaymentEvent } from '../../src/events/payment.ts';
import { schemaVersion } from '../../src/events/upcast.ts';
import { open, startServer } from '../event-store/helpers.ts';
import { checkChain } from '../support/chain.ts';
import { countLoads } from '../support/count-loads.ts';
import {
  payer as aminah,
  choose,
  orderNo,
  record,
  requestPayment,
  result,
  sen,
  transactionId,
} from '../support/payments.ts';
import { personalData } from '../support/personal-data.ts';

const stream = paymentStream(transactionId);

function cause(): Cause {
  return {
    commandId: randomUUID(),
    correlationId: randomUUID(),
    causationId: randomUUID(),
    actor: 'gateway',
  };
}

async function start(t: ExecutionContext) {
  const eventStore = open(t, (await startServer(t)).port);
  const through = (store: Pick<EventStore, 'append' | 'load'>) =>
    createExecute({ eventStore: store, decider: paymentDecider, seal: personalData.seal });
  const execute = through(eventStore);
  return {
    eventStore,
    through,
    run: (command: PaymentCommand, by = cause()) => execute(stream, command, by),
    create: (command: PaymentCommand, by = cause()) => execute(stream, command, by, { creates: true }),
    load: () => eventStore.load(stream),
  };
}

const fold = (stored: readonly { type: string; data: unknown; metadata: unknown }[]) =>
  stored.map(readPaymentEvent).reduce(paymentDecider.evolve, paymentDecider.initial);

const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);

test.serial('50 identical requests at once make one stream with one event', async (t) => {
  const { create, load } = await start(t);
  const answers = await Promise.all(Array.from({ length: 50 }, () => create(requestPayment())));
  const stored = await load();
  t.deepEqual(typesOf(stored), ['PaymentRequested']);
  t.is(answers.filter(({ events }) => events.length === 1).length, 1);
  for (const { state } of answers) t.deepEqual(state, fold(stored));
  checkChain(t, stored);
});

test.serial('nothing about a person is appended in plain text', async (t) => {
  const { eventStore, load } = await start(t);
  const execute = createExecute({ eventStore, decider: paymentDecider });
  await t.throwsAsync(execute(stream, requestPayment(), cause()), { message: /in plain text$/ });
  t.deepEqual(await load(), []);
});

test.serial('without a key a new request fails, and a repeated one is answered', async (t) => {
  const { create, eventStore } = await start(t);
  await create(requestPayment());
  const withoutKeys = createExecute({
    eventStore,
    decider: paymentDecider,
    seal(_, events) {
      if (events.length > 0) throw new KeysUnavailable('No keys');
      return events;
    },
  });
  const { events, state } = await withoutKeys(stream, requestPayment(), cause(), { creates: true });
  t.deepEqual([events.length, state.status], [0, 'requested']);
  await t.throwsAsync(
    withoutKeys(paymentStream('0'.repeat(26)), requestPayment(), cause(), { creates: true }),
    {
      instanceOf: KeysUnavailable,
    },
  );
});

test.serial('of two requests with other content at once, one is refused', async (t) => {
  const { create, load } = await start(t);
  const answers = await Promise.allSettled([
    create(requestPayment()),
    create(requestPayment({ amountSen: sen(1) })),
  ]);
  const refused = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason);
  t.is(refused.length, 1);
  t.true(refused[0] instanceof Refused && refused[0].code === 'request_differs');
  t.is((await load()).length, 1);
});

test.serial('two different results at once make one outcome', async (t) => {
  const { create, run, load } = await start(t);
  await create(requestPayment());
  await run(choose(1));
  const results = [result(1, 'succeeded'), result(1, 'failed')];
  await Promise.all(results.map((reported) => run(record(reported))));
  const stored = await load();
  const state = fold(stored);
  t.like(state, { status: 'succeeded', receipt: { receiptNo: '7-20261120-HE7CEVBBN545JZX2' } });
  t.is(typesOf(stored).filter((type) => type === 'PaymentSucceeded').length, 1);
  // Whichever came first: the failure was applied before the success, or contradicts it.
  t.is(stored.length, 4);
  checkChain(t, stored);
});

test.serial(
  '10 successes at once, each three times: one is the payment, nine are other money, none is lost',
  async (t) => {
    const { create, run, load } = await start(t);
    await create(requestPayment());
    await run(choose(1));
    const successes = Array.from({ length: 10 }, (_, index) =>
      result(1, 'succeeded', { gatewayTransactionId: `S${index}` }),
    );
    const answers = await Promise.all(
      [successes, successes, successes].flat().map((reported) => run(record(reported))),
    );
    const stored = await load();
    const types = typesOf(stored).slice(2).toSorted();
    t.deepEqual(types, [...Array(9).fill('DuplicatePaymentDetected'), 'PaymentSucceeded']);
    t.is(answers.flatMap(({ events }) => events).length, 10);
    const state = fold(stored);
    const known = state.status === 'none' ? [] : state.results.map((each) => each.gatewayTransactionId);
    t.is(new Set(known).size, 10);
    checkChain(t, stored);
  },
);

test.serial('a request whose stream exists is decided on that stream', async (t) => {
  const { create, run, load } = await start(t);
  await create(requestPayment());
  await run(record(result(1, 'succeeded')));
  const again = await create(requestPayment({ at: '2026-11-21T00:00:00.000Z' }));
  t.deepEqual(again.events, []);
  t.is(again.state.status, 'succeeded');
  await t.throwsAsync(create(requestPayment({ description: 'another' })), { instanceOf: Refused });
  t.is((await load()).length, 2);
});

test.serial('a request reads nothing unless its stream exists already', async (t) => {
  const { eventStore, through } = await start(t);
  const { eventStore: counted, loadsOf } = countLoads(eventStore);
  const execute = through(counted);
  await execute(stream, requestPayment(), cause(), { creates: true });
  t.is(loadsOf(stream), 0);
  await execute(stream, requestPayment(), cause(), { creates: true });
  t.is(loadsOf(stream), 1);
});

test.serial(
  'a head that was loaded is decided on as it is, and loaded again only after a conflict',
  async (t) => {
    const { create, run, eventStore, load } = await start(t);
    const { eventStore: counted, loadsOf } = countLoads(eventStore);
    const execute = createExecute({ eventStore: counted, decider: paymentDecider, seal: personalData.seal });
    await create(requestPayment());
    const from = await loadHead(eventStore, stream, paymentDecider);
    const chosen = await execute(stream, choose(1), cause(), { from });
    t.is(loadsOf(stream), 0);
    t.is(chosen.revision, 1);
    const hash = ((await load()).at(-1)?.metadata as Metadata | undefined)?.hash ?? '';
    t.is(chosen.hash, hash, 'the answer is the head for the next command');
    await execute(stream, record(result(1, 'failed')), cause(), { from: chosen });
    t.is(loadsOf(stream), 0);
    await execute(stream, choose(2), cause(), { from: chosen });
    t.is(loadsOf(stream), 1);
    await t.throwsAsync(execute(stream, choose(1), cause(), { from: { ...from, state: noPayment } }), {
      instanceOf: Refused,
    });
    await run(record(result(2, 'succeeded')));
    const stored = await load();
    t.is(stored.length, 5);
    checkChain(t, stored);
  },
);

test.serial(
  'the answer is the state that the stream folds into, and the events that were added',
  async (t) => {
    const { create, run, load } = await start(t);
    for (const step of [
      () => create(requestPayment()),
      () => run(choose(1)),
      () => run(record(result(1, 'failed'))),
      () => run(choose(2)),
      () => run(record(result(1, 'cancelled'))),
      () => run(record(result(2, 'succeeded'))),
    ]) {
      const { state, events } = await step();
      const stored = await load();
      t.deepEqual(state, fold(stored));
      t.deepEqual(events, stored.slice(-1).map(readPaymentEvent));
    }
    checkChain(t, await load());
  },
);

test.serial(
  'a stream that was just written is not read again, and what others appended still counts',
  async (t) => {
    const { eventStore: store, run: elsewhere, load } = await start(t);
    const { eventStore, loadsOf } = countLoads(store);
    const { seal } = personalData;
    const execute = createExecute({ eventStore, decider: paymentDecider, seal, remembered: 2 });
    const run = (command: PaymentCommand) => execute(stream, command, cause());
    await execute(stream, requestPayment(), cause(), { creates: true });
    await run(choose(1));
    t.is(loadsOf(stream), 0);
    // An append at a remembered revision that has passed fails, and is decided again.
    await elsewhere(record(result(1, 'failed')));
    const { state } = await run(record(result(1, 'succeeded')));
    t.is(loadsOf(stream), 1);
    t.like(state, { status: 'succeeded', results: { length: 2 } });
    t.deepEqual(state, fold(await load()));
    // Neither a refusal nor that there is nothing to do is taken from memory.
    await t.throwsAsync(run(choose(2)), { instanceOf: Refused });
    t.deepEqual((await run(record(result(1, 'succeeded')))).events, []);
    t.is(loadsOf(stream), 3);
    checkChain(t, await load());
    // Only so many are remembered.
    for (const id of ['1', '2']) {
      const request = requestPayment({ transactionId: id.repeat(26) });
      await execute(paymentStream(id.repeat(26)), request, cause(), { creates: true });
    }
    await t.throwsAsync(run(choose(2)), { instanceOf: Refused });
    t.is(loadsOf(stream), 4);
  },
);

test.serial('the metadata is complete, and event ids follow from the command id', async (t) => {
  const { create, run, load } = await start(t);
  const requesting = { ...cause(), actor: 'merchant:council' };
  const choosing = { ...cause(), actor: 'payer' };
  await create(requestPayment(), requesting);
  await run(choose(1), choosing);
  const [first, second] = await load();
  if (!first) return t.fail();
  const { hash, ...metadata } = first.metadata as Metadata;
  t.deepEqual(metadata, {
    $correlationId: requesting.correlationId,
    $causationId: requesting.causationId,
    actor: 'merchant:council',
    schemaVersion,
    previousHash: genesisHash,
  });
  t.like(second?.metadata, { actor: 'payer', previousHash: hash });
  t.is(first.id, uuidV5('0', requesting.commandId));
  t.is(second?.id, uuidV5('0', choosing.commandId));
});

test.serial('a command that is sent again under its own id is one command', async (t) => {
  const { create, run, load } = await start(t);
  await create(requestPayment());
  const by = cause();
  await Promise.all(Array.from({ length: 10 }, () => run(choose(1), by)));
  t.is((await load()).length, 2);
});

test.serial(
  'what follows a note that was sent twice at once is chained onto the note that is stored',
  async (t) => {
    const { create, eventStore, load } = await start(t);
    await create(requestPayment());
    const { seal } = personalData;
    const execute = createExecute({ eventStore, decider: paymentDecider, seal, remembered: 10 });
    const by = cause();
    const noteAt = (second: number) => {
      const at = `2026-11-20T03:00:0${second}.000Z`;
      return execute(stream, { type: 'AddNote', at, note: 'called' }, by, { once: true });
    };
    // The store confirms what it has under this id already, although its content differs.
    await Promise.all([0, 1, 2, 3, 4].map(noteAt));
    await execute(stream, choose(1), cause());
    await noteAt(9);
    const stored = await load();
    t.deepEqual(typesOf(stored).slice(1), ['StaffNoteAdded', 'PaymentMethodChosen']);
    checkChain(t, stored);
  },
);

test.serial(
  'a try that arrives after the connection was lost is the command, and is not made again',
  async (t) => {
    const { create, eventStore, load } = await start(t);
    await create(requestPayment());
    const { seal } = personalData;
    let lost: Parameters<typeof eventStore.append> | undefined;
    const execute = createExecute({
      eventStore: {
        load: eventStore.load,
        async append(...args) {
          if (!lost) {
            lost = args;
            throw new WrongExpectedRevision(stream, args[2], null);
          }
          if (lost.length > 0) await eventStore.append(...(lost.splice(0) as typeof args));
          return await eventStore.append(...args);
        },
      },
      decider: paymentDecider,
      seal,
      remembered: 10,
    });
    const note = { type: 'AddNote', at: '2026-11-20T03:00:00.000Z', note: 'called' } as const;
    const { events } = await execute(stream, note, cause());
    t.is(events.length, 1);
    await execute(stream, choose(1), cause());
    const stored = await load();
    t.deepEqual(typesOf(stored).slice(1), ['StaffNoteAdded', 'PaymentMethodChosen']);
    checkChain(t, stored);
  },
);

test.serial('a refused command throws and writes nothing', async (t) => {
  const { run, load } = await start(t);
  for (const [command, code] of [
    [choose(1), 'unknown_payment'],
    [record(result(1, 'succeeded')), 'unmatched_result'],
  ] as const) {
    const refused = await t.throwsAsync<Refused>(run(command), { instanceOf: Refused });
    t.is(refused?.code, code);
  }
  t.deepEqual(await load(), []);
});

test.serial('an event that could not be read back is never written', async (t) => {
  const { create, load } = await start(t);
  const command = requestPayment({ at: 'today', payer: { ...aminah, icNo: '' } });
  await t.throwsAsync(create(command), { instanceOf: UnreadableEvent });
  t.deepEqual(await load(), []);
});

test.serial('nothing is decided on a stream with an unreadable event', async (t) => {
  const { create, run, eventStore, load } = await start(t);
  await create(requestPayment());
  const newer = {
    id: randomUUID(),
    type: 'PaymentRefunded',
    data: {},
    metadata: { schemaVersion: schemaVersion + 1 },
  };
  await eventStore.append(stream, [newer], 0);
  await t.throwsAsync(run(record(result(1, 'succeeded'))), { instanceOf: UnreadableEvent });
  t.is((await load()).length, 2);
});

test.serial('a command that loses every race gives up in the end', async (t) => {
  const { create, run, eventStore, through, load } = await start(t);
  await create(requestPayment());
  let rivals = 0;
  const overtaken = through({
    load: eventStore.load,
    async append(...args) {
      rivals += 1;
      await run(record(result(1, 'failed', { sellerOrderNo: orderNo(rivals), gatewayTransactionId: '' })));
      return await eventStore.append(...args);
    },
  });
  const success = record(result(1, 'succeeded'));
  await t.throwsAsync(overtaken(stream, success, cause()), { instanceOf: EventStoreUnavailable });
  const stored = await load();
  t.is(stored.length, 1 + rivals);
  t.is(fold(stored).status, 'failed');
  checkChain(t, stored);
});

test.serial('text of any kind comes back from the store as it was, hash included', async (t) => {
  const { create, run, load } = await start(t);
  const extra = { 'key"': 'é😀\u2028', list: [1, 0.1, null, { z: true, a: [] }], big: 1e21, small: 5e-324 };
  await create(requestPayment({ extra, payer: { ...aminah, name: 'Nur \ud800 \u0000' } }));
  await run(record(result(1, 'succeeded', { raw: { BUYER_NAME: 'Söhne & \u0000 \udfff', __proto__x: '' } })));
  const stored = await load();
  checkChain(t, stored);
  const again = await create(requestPayment({ extra, payer: { ...aminah, name: 'Nur \ud800 \u0000' } }));
  t.is(again.events.length, 0);
});
