// Notes and checkpoints: the examples of the C2SP specifications and of golang.org/x/mod/sumdb/note, and a checkpoint of
// a public log with the cosignatures of public witnesses.
import { generateKeyPairSync, sign } from 'node:crypto';
import { forAll, isSigned, publicKeysIn, sealKeyOf, termText } from '@ledger/transparency-log/key.ts';
import {
  checkpointText,
  cosignatureLine,
  cosignersOf,
  lackOfWitnesses,
  openCheckpoint,
  parseCheckpoint,
  parseNote,
  readVerifier,
  signatureLine,
  signedAt,
  type Verifier,
  verifierText,
} from '@ledger/transparency-log/note.ts';
import test from 'ava';

const verifier = (text: string): Verifier => {
  const read = readVerifier(text);
  if (!read) throw new Error(`${text} is not a key`);
  return read;
};

const goText =
  "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const goKey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const goLine =
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n';
const exampleKey = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const example =
  'This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n';

const log = 'arche2025h1.staging.ct.transparency.dev+ba2f06c0+AU0vHmlGCS/PdN8b2OaGmKprLI8HKM+dJ472xgFYh15f';
const witness = 'remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2';
const cosigned = `arche2025h1.staging.ct.transparency.dev
1432088532
U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=

— arche2025h1.staging.ct.transparency.dev zTM8sQAAAZ5W0WdjBAMARjBEAiBjW5IQf9pvsYLfQFX6hoGREPMHbdQ3urbllzalApkptQIgIpwtEroeW2BXaHAI4kJXFbon5Ch9MNL5zRNZ55lvGt0=
— arche2025h1.staging.ct.transparency.dev ui8GwCF1+kWqZrxGdhj4aX3gcw7XUlXQQabg/27lefwhUkzbC3NygNI75MdhL1bfTW9g8Ei59RA23oHP7Ry1k3ZFWwQ=
— transparency.dev/DEV:witness-little-garden 2AQqhwAAAABqEiEgzgFIqqhbUoDwjMWE6UP8nd8/KYTzwZ2rhIgcqoXHAwVkjZr4AscylP3v7sEodkRAErumC2q44vdgJY096st5BQ==
— witness1.smartit.nu/witness1 pIyCDwAAAABqEiEghIp82KWebrw7/oHQwlTAm3g2RKS4+eebl8eO0WH+/iEcxZ75W3u5hNI7TOQtmJbqmNWVuE0tgh0XwzdZsDsUAQ==
— remora.n621.de 2net5wAAAABqEiEgPlfF3V06o0Y+fHM+J5J9s27wgxxcOVSpZ/2g/KSiXCg9DEZI+aVCIobWX9sXTynk5XeU/zZ0WBxtqB0DrAWfBw==
— witness.stagemole.eu Z/euoAAAAABqEiEgw0i+7g2ENfDAWHmtRzCfKTHSDwYDJA2NmKeGi9Y8FtEyOUvVr+AJmIY/2TUFucgKi7lI7cUiOvKFYe/TmN9DAg==
`;

const check = (note: string, key: string) => {
  const parsed = parseNote(note);
  return parsed && signedAt(parsed, verifier(key));
};

test('the published notes are signed by their keys, and by nobody else', (t) => {
  t.is(check(`${goText}\n${goLine}`, goKey), 0);
  t.is(check(example, exampleKey), 0);
  t.is(check(example, goKey), null);
  t.is(check(example.replace('This', 'That'), exampleKey), null);
  for (const key of [goKey, exampleKey, log, witness]) t.is(verifierText(verifier(key)), key);
});

test('a checkpoint names whoever has signed it beside its log, each once', (t) => {
  const witnesses = [
    'transparency.dev/DEV:witness-little-garden',
    'witness1.smartit.nu/witness1',
    'remora.n621.de',
    'witness.stagemole.eu',
  ];
  t.deepEqual(cosignersOf(cosigned), witnesses);
  t.deepEqual(cosignersOf(`${cosigned}${cosigned.split('\n').at(-2)}\n`), witnesses);
  t.deepEqual(cosignersOf('no note'), []);
});

test('a signature is that of the published note, byte for byte', (t) => {
  const seed = Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1);
  t.is(signatureLine(goText, 'PeterNeumann', sealKeyOf(seed.toString('hex'))), goLine);
});

test('a checkpoint of a public log: its signature, and when a witness cosigned it', (t) => {
  t.is(check(cosigned, log), 0);
  t.is(check(cosigned, witness), 0x6a122120);
  t.is(check(cosigned.replace('1432088532', '1432088533'), log), null);
  t.is(check(cosigned.replace('1432088532', '1432088533'), witness), null);
  const checkpoint = parseCheckpoint(parseNote(cosigned)?.text ?? '');
  t.like(checkpoint, { origin: 'arche2025h1.staging.ct.transparency.dev', size: 1_432_088_532 });
  t.true(cosigned.startsWith(checkpoint ? checkpointText(checkpoint) : '?'));
});

test('our own cosignature verifies, and states its time', (t) => {
  const key = sealKeyOf('5ea1'.repeat(16));
  const at = new Date('2026-11-20T01:00:00.900Z');
  const name = 'witness.example/w1';
  const publicKey = Buffer.from(key.publicKey, 'base64').subarray(-32);
  const own = verifierText({ kind: 'witness', name, publicKey });
  const line = cosignatureLine(goText, name, key, at);
  const note = `${goText}\n${goLine}${line}`;
  t.is(check(note, own), 1_795_136_400);
  // Lines that somebody else has added, with the name and the id of the key.
  const signed = Buffer.from(line.split(' ')[2] ?? '', 'base64');
  const others = [signed.subarray(0, 10), Buffer.from(signed).fill(0, 12)]
    .map((bytes) => `— ${name} ${bytes.toString('base64')}\n`)
    .join('');
  t.is(check(`${goText}\n${others}`, own), null);
  t.is(check(`${goText}\n${others}${line}`, own), 1_795_136_400);
  const witnesses = { known: [{ kind: 'witness', name, publicKey } as const], needed: 1 };
  t.is(lackOfWitnesses(note, witnesses), null);
  t.is(lackOfWitnesses(note, witnesses, 1_795_136_400), null);
  t.regex(lackOfWitnesses(note, witnesses, 1_795_136_399) ?? '', /these have: none$/, 'it signed later');
  const both = { known: [verifier(witness), ...witnesses.known], needed: 2 };
  t.regex(lackOfWitnesses(note, both) ?? '', /these have: witness\.example\/w1$/);
  t.deepEqual(readVerifier(` ${own}\n`), witnesses.known[0]);
});

test('a line that somebody else writes under the name of a key does not hide the signature of that key', (t) => {
  const [text, lines = ''] = cosigned.split('\n\n');
  const own = lines.split('\n').find((line) => line.includes('remora')) ?? '';
  const [dash, name, signature = ''] = own.split(' ');
  const forged = Buffer.from(signature, 'base64').fill(0, 4).toString('base64');
  const before = `${text}\n\n${dash} ${name} ${forged}\n${lines}`;
  t.is(check(before, witness), check(cosigned, witness));
  t.is(check(`${text}\n\n${dash} ${name} ${forged}\n`, witness), null);
});

test('a checkpoint counts if a trusted key has signed it in its term', (t) => {
  const key = sealKeyOf('5ea1'.repeat(16));
  const { publicKey } = key;
  const text = checkpointText({ origin: 'log.example', size: 7, root: Buffer.alloc(32, 1) });
  const note = `${text}\n${signatureLine(text, 'log.example', key)}`;
  const early = { publicKey, from: 0, to: 6 };
  const late = { publicKey, from: 8, to: Number.POSITIVE_INFINITY };
  for (const trusted of [[forAll(publicKey)], [early, { publicKey, from: 7, to: 7 }, late], null])
    t.like(openCheckpoint(note, trusted), { origin: 'log.example', size: 7 });
  for (const trusted of [[], [early], [late], [forAll(sealKeyOf('1dea'.repeat(16)).publicKey)]])
    t.is(openCheckpoint(note, trusted), 'The checkpoint was not signed with a trusted key');
  t.is(
    openCheckpoint(`not one\n\n${signatureLine('not one\n', 'log.example', key)}`, null),
    'It is not a checkpoint',
  );

  const terms = [forAll(publicKey), early, late, { publicKey, from: 3, to: 9 }];
  t.deepEqual(publicKeysIn(terms.map(termText).join('\n')), terms);
  const { publicKey: p256, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const other = p256.export({ format: 'der', type: 'spki' }).toString('base64');
  const signature = sign(null, Buffer.from(text), privateKey).toString('base64');
  t.false(isSigned({ publicKey: other, signature }, text), 'with a key of another kind');
  for (const pem of ['', p256.export({ format: 'pem', type: 'spki' }).toString()])
    t.throws(() => publicKeysIn(pem), { message: /must hold Ed25519 public keys/ });
});

test('what does not have the form of a note, a key or a checkpoint is refused', (t) => {
  for (const note of [
    goText,
    `${goText}\n`,
    `${goText}\n${goLine.trimEnd()}`,
    `${goText}\n${goLine.replace('—', '-')}`,
    `${goText}\n${goLine.replace('PeterNeumann', 'Peter+Neumann')}`,
    `${goText}\n${goLine.replace('JnAM=', 'JnAN=')}`,
    `${goText}\r\n\n${goLine}`,
    `${goText}\n${goLine.repeat(33)}`,
    `${goText}\n${goLine}no signature\n`,
    `\ud800\n\n${goLine}`,
  ])
    t.is(parseNote(note), null, JSON.stringify(note));
  t.truthy(parseNote(`${goText}\n${goLine.repeat(16)}`), 'at least 16 signatures are accepted');
  for (const key of [
    '',
    goKey.slice(1),
    goKey.replace('c74f', 'c74e'),
    `${goKey}AA`,
    goKey.replace('+A', '+B'),
    verifierText({ kind: 'log', name: 'short', publicKey: Buffer.alloc(31) }),
  ])
    t.is(readVerifier(key), null, key);
  const root = 'U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=';
  for (const text of [
    `a\n01\n${root}\n`,
    `a\n-1\n${root}\n`,
    `a\n1\n${root}`,
    `\n1\n${root}\n`,
    `a\n1\n${root.slice(1)}\n`,
    `a\n1\n${root.replace('Ro=', 'Rp=')}\n`,
    `a\n1\n${root}\n\n`,
  ])
    t.is(parseCheckpoint(text), null, JSON.stringify(text));
  t.like(parseCheckpoint(`a\n0\n${root}\nan extension\n`), { origin: 'a', size: 0 });
});
