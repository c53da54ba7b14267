// Keys of erased data that an older copy of PostgreSQL brings back.
import { isDestroyed, keyIn, readKeyId } from '@ledger/personal-data/key-store.ts';
import { KeysUnavailable, type PersonalDataReader } from '@ledger/personal-data/sealed.ts';
import { prepare } from '@ledger/projections/runtime/checkpoints.ts';
import test, { type ExecutionContext } from 'ava';
import { paymentStream } from '../../src/events/payment.ts';
import { resolutionStream } from '../../src/events/unmatched.ts';
import { createErase } from '../../src/personal-data/erase.ts';
import { createErasedKeys, erasedKeysList } from '../../src/personal-data/erased-keys.ts';
import { createRetentionPass } from '../../src/personal-data/retention.ts';
import { until } from '../embedded/helpers.ts';
import { caughtUp, log, run } from '../projections/helpers.ts';
import { createDatabase } from '../support/postgres.ts';
import { asStored, idOf, startErasing } from './erasing.ts';

const postgres = await createDatabase();
const start = (t: ExecutionContext) => startErasing(t, postgres);

test.serial(
  'keys of erased data that an older copy of PostgreSQL brings back are destroyed again',
  async (t) => {
    const { db, erase, asked, eventStore, load, parts, pay, url, ...ledger } = await start(t);
    const freed: number[] = [];
    const store = {
      ...parts.store,
      async freeOldVersions() {
        freed.push((await returned()).length);
      },
    };
    const follow = () => {
      const projection = createErasedKeys({ store, log });
      const { personalData, runtime } = ledger;
      return run(t, projection, { eventStore }, { db, url }, { personalData, runtime });
    };
    const returned = async () => (await db('erased_keys.returned')).map(({ keys }) => keys);
    const tables = ['personal_data.key_blocks', 'checkpoints', 'erased_keys.returned'];
    const ids = [await pay(1), await pay(2), await pay(3)];
    const keys = (await Promise.all(ids.map(load))).map(({ personalData }) => personalData.keys);
    const areDestroyed = async () => {
      const read = keys.flat().map(async (keyId) => {
        const { block, index } = readKeyId(keyId) ?? { block: '', index: 0 };
        const found = (await parts.store.read([block])).get(block);
        return found instanceof Buffer && isDestroyed(keyIn(found, index));
      });
      return await Promise.all(read);
    };
    const erased = async (id: string) => {
      await erase(asked(id));
      await caughtUp([erasedKeysList], { eventStore }, { db });
    };

    const first = follow();
    await erased(idOf(1));
    const copy = await Promise.all(tables.map(async (table) => [table, await db(table)] as const));
    await erased(idOf(2));
    t.deepEqual(await returned(), [], 'a usual erasure is none that was undone');
    await first.stop();

    for (const [table, rows] of copy) {
      await db(table).delete();
      if (rows.length > 0) await db(table).insert(rows.map(asStored));
    }
    const isOf = (id: string) => keys.flatMap((own, index) => own.map(() => ids[index] === id));
    t.deepEqual(await areDestroyed(), isOf(idOf(1)), 'the copy is from before the second erasure');
    const second = follow();
    const [, own = [], kept = []] = keys;
    await until(async () => (await returned()).length > 0);
    t.deepEqual(await returned(), [own.length]);
    t.deepEqual(
      await areDestroyed(),
      keys.flatMap((each) => each.map(() => each !== kept)),
    );
    await second.stop();
    await until(() => freed.length > 0);
    t.deepEqual(freed, [1], 'once it is committed: no transaction needs the old versions then');

    await db('checkpoints').where({ name: erasedKeysList.name }).delete();
    await db.raw('drop schema erased_keys cascade');
    follow();
    await caughtUp([erasedKeysList], { eventStore }, { db });
    t.deepEqual(await returned(), [], 'read again from the start, nothing is found twice');
  },
);

test.serial(
  'an erasure that an older copy of PostgreSQL has forgotten is under way again, so that late emails of it are removed',
  async (t) => {
    const { asked, db, eventStore, parts, pay, ...ledger } = await start(t);
    const id = await pay(1);
    const late: string[][] = [];
    const onErased = async (ids: readonly string[], isLate: boolean) => isLate && late.push([...ids]) > 0;
    const erasing = createErase({ ...parts, onErased });
    await erasing(asked(id));
    await db('personal_data.erasures').delete();

    const { personalData, runtime, url } = ledger;
    const list = createErasedKeys({ store: parts.store, log });
    run(t, list, { eventStore }, { db, url }, { personalData, runtime });
    await caughtUp([erasedKeysList], { eventStore }, { db });
    const pass = createRetentionPass({ ...ledger, db, log, erase: erasing, retention: null });
    ledger.project(t);
    await ledger.caughtUp();
    await db('personal_data.erasures').update({ begun_at: '2026-11-20T00:00:00Z' });
    await pass(new AbortController().signal);
    t.deepEqual(late, [[id]]);
    t.deepEqual(await db('personal_data.erasures'), []);

    const [event] = (await eventStore.load(paymentStream(id))).slice(-1);
    if (!event) throw new Error('There is no event');
    const ofResult = { ...event, streamName: resolutionStream('0') };
    await db.transaction(async (trx) => await list.project([ofResult], trx, {} as PersonalDataReader));
    t.deepEqual(await db('personal_data.erasures'), [], 'no email is about a result in quarantine');
  },
);

test('that keys cannot be destroyed is said in the words of the store, if it knows why', async (t) => {
  // It needs neither before the keys are destroyed.
  const none = [] as unknown as [never, never];
  const projecting = async (failure: Error) => {
    const store = {
      destroy: () => Promise.reject(failure),
      erasures: { begin: async () => undefined },
      freeOldVersions: async () => undefined,
    };
    return await t.throwsAsync(async () => await createErasedKeys({ store, log }).project([], ...none), {
      instanceOf: KeysUnavailable,
    });
  };
  const known = new KeysUnavailable('They are under another DATA_KEY');
  t.is(await projecting(known), known);
  t.is(
    (await projecting(new TypeError('x')))?.message,
    'Keys of erased personal data cannot be destroyed now',
  );
});

test.serial(
  'keys that were back are counted, once, even if the process is killed as soon as they are destroyed',
  async (t) => {
    const { asked, db, erase, eventStore, load, parts, pay } = await start(t);
    const id = await pay(1);
    const { keys } = (await load(id)).personalData;
    const copy: Record<string, unknown>[] = await db('personal_data.key_blocks');
    await erase(asked(id));
    const bringBack = async () => {
      await db('personal_data.key_blocks').delete();
      await db('personal_data.key_blocks').insert(copy);
    };
    await bringBack();
    const erasures = await eventStore.load(paymentStream(id));
    const events = erasures.filter(({ type }) => type === 'PersonalDataErased');
    const none = {} as PersonalDataReader;
    const list = () => createErasedKeys({ store: parts.store, log });
    await prepare(db, list(), erasedKeysList.name);
    const killed = db.transaction(async (trx) => {
      await list().project(events, trx, none);
      throw new Error('killed');
    });
    await t.throwsAsync(killed, { message: 'killed' });
    await db.transaction(async (trx) => await list().project(events, trx, none));
    t.deepEqual(await db('erased_keys.returned').pluck('keys'), [keys.length]);

    await bringBack();
    const freed: string[] = [];
    const freeOldVersions = async () => void freed.push('');
    const freeing = createErasedKeys({ store: { ...parts.store, freeOldVersions }, log });
    await db.transaction(async (trx) => {
      await trx.transaction(async (savepoint) => await freeing.project(events, savepoint, none));
      await new Promise(setImmediate);
      t.is(freed.length, 0, 'the transaction keeps the old versions');
    });
    await until(() => freed.length === 1);
  },
);
