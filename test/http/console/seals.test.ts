// The page of seals: newest first, page by page, and what is no longer a seal.
import { sealKeyOf } from '@ledger/transparency-log/key.ts';
import { checkpointText, cosignatureLine, signatureLine } from '@ledger/transparency-log/note.ts';
import { growTree, leafHash } from '@ledger/transparency-log/tree.ts';
import test from 'ava';
import { sealedWithinMs } from '../../../src/audit/seals/sealing-status.ts';
import { chain, genesisHash } from '../../../src/events/envelope.ts';
import { countIn, emptyTally, sealsStream, signedText } from '../../../src/events/seals.ts';
import { streamPrefixes } from '../../../src/events/streams.ts';
import { userStream } from '../../../src/events/user.ts';
import { cause } from '../../audit/ledger.ts';
import { startApp } from '../../support/app.ts';
import { signIn } from '../../support/console.ts';

const key = sealKeyOf('5ea1'.repeat(16));
const hasStopped = /role="alert".*when-the-sealer-stops/s;

test('seals are listed, newest first, with whether each is valid and whether the sealer has stopped', async (t) => {
  const app = await startApp();
  t.teardown(app.close);
  const viewer = await signIn(app, 'viewer');
  t.regex(await (await viewer.get('/console/seals')).text(), /There are no seals/);
  const [event] = await app.eventStore.load(userStream(viewer.id));
  if (!event) throw new Error('no user');
  const soon = await (await viewer.get('/console/seals')).text();
  t.regex(soon, /Not sealed yet: events since/);
  t.notRegex(soon, hasStopped);
  const later = await startApp({ clock: () => new Date(Date.now() + sealedWithinMs + 1) }, app);
  t.teardown(later.close);
  const overdue = await (await (await signIn(later, 'viewer')).get('/console/seals')).text();
  t.regex(overdue, /No event since .* is sealed/s);
  t.regex(overdue, hasStopped);

  let previousSeal = genesisHash;
  for (let count = 1; count <= 52; count += 1) {
    const said = {
      at: '2026-11-20T01:00:00.000Z',
      position: { commit: '1', prepare: '1' },
      count,
      runningHash: countIn(emptyTally, event).runningHash,
      lastEvent: { stream: event.streamName, revision: event.revision, id: event.id },
      streams: [...streamPrefixes],
      previousSeal,
      publicKey: key.publicKey,
    };
    const data = { ...said, signature: count === 52 ? 'none' : key.sign(signedText(said)) };
    const sealed = chain([{ type: 'LogSealed', data }], previousSeal, cause());
    await app.eventStore.append(sealsStream, sealed, count === 1 ? 'no_stream' : count - 2);
    previousSeal = sealed[0]?.metadata.hash ?? '';
  }
  const first = await (await viewer.get('/console/seals')).text();
  t.deepEqual(
    numbersIn(first),
    Array.from({ length: 50 }, (_, index) => 51 - index),
  );
  t.is(first.match(/this is not what was signed/g)?.length, 1);
  t.regex(first, /2026-11-20 09:00:00/);
  t.regex(first, /contradicts what was sealed before: Seal 51 is not what was signed/);
  t.true(first.includes('href="/console/seals?up_to=1"'));
  const second = await (await viewer.get('/console/seals?up_to=1')).text();
  t.deepEqual(numbersIn(second), [1, 0]);
  t.is((await viewer.get('/console/seals?up_to=x')).status, 400);
  const beyond = await (await viewer.get('/console/seals?up_to=999999999')).text();
  t.deepEqual(numbersIn(beyond), numbersIn(first));
});

test('each seal names its witnesses, and a witness that signed before and not the last one is named above', async (t) => {
  const app = await startApp();
  t.teardown(app.close);
  const viewer = await signIn(app, 'viewer');
  const page = async () => (await (await viewer.get('/console/seals')).text()).replace(/<[^>]+>|\s+/g, ' ');
  const [event] = await app.eventStore.load(userStream(viewer.id));
  if (!event) throw new Error('no user');
  const origin = 'ledger.example/log';
  const tree = growTree({ size: 0, roots: [] });
  let before = genesisHash;
  const seal = async (...witnesses: string[]) => {
    tree.add(leafHash(Buffer.from('an event')));
    const text = checkpointText({ origin, size: tree.size(), root: tree.root() });
    const lines = witnesses.map((name) => cosignatureLine(text, name, key, new Date()));
    const content = {
      at: '2026-11-20T01:00:00.000Z',
      checkpoint: `${text}\n${signatureLine(text, origin, key)}${lines.join('')}`,
      range: tree.range().roots.map((each) => each.toString('base64')),
      lastEvent: { stream: event.streamName, revision: event.revision, id: event.id },
      streams: [...streamPrefixes],
      publicKey: key.publicKey,
    };
    const data = { ...content, signature: key.sign(signedText(content)) };
    const sealed = chain([{ type: 'CheckpointSigned', data }], before, cause());
    await app.eventStore.append(sealsStream, sealed, tree.size() === 1 ? 'no_stream' : tree.size() - 2);
    before = sealed[0]?.metadata.hash ?? '';
  };
  await seal();
  t.notRegex(await page(), /Witnesses/, 'without any, nothing is said of them');
  await seal('one.example', 'two.example');
  t.regex(await page(), /Witnesses.*one\.example, two\.example/);
  t.notRegex(await page(), /lacks the signature/);
  await seal('two.example');
  t.regex(
    await page(),
    /The last seal lacks the signature of one\.example, which signed earlier ones\. +What to do/,
  );
});

const numbersIn = (html: string) =>
  [...html.matchAll(/<th scope="row" class="figure">(\d+)<\/th>/g)].map(([, number]) => Number(number));
