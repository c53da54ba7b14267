/**
 * Signed notes and checkpoints, as C2SP specifies them (c2sp.org/signed-note, /tlog-checkpoint, /tlog-cosignature): a
 * text, and a line for each Ed25519 signature.
 */
import { hash } from 'node:crypto';
import { isSigned, type KeyTerm, type SealKey } from './key.ts';

/** The type byte of a key: a log signs the note itself, a witness signs it together with the time. */
const signatureTypes = { log: 0x01, witness: 0x04 } as const;

/** Whose signatures are known: by name, and by the 32 bytes of an Ed25519 key. */
export type Verifier = { kind: keyof typeof signatureTypes; name: string; publicKey: Buffer };

type Signature = { name: string; keyId: Buffer; bytes: Buffer };
export type Note = { text: string; signatures: readonly Signature[] };

/** No checkpoint has more. */
export const maxSignatures = 32;

/** Null if it does not have the form of a signed note. */
export function parseNote(note: string): Note | null {
  const end = note.lastIndexOf('\n\n');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the format forbids them.
  if (end < 0 || /[\0-\x09\x0b-\x1f]/.test(note) || !note.isWellFormed()) return null;
  const lines = note.slice(end + 2).split('\n');
  if (lines.pop() !== '' || lines.length === 0 || lines.length > maxSignatures) return null;
  const signatures = lines.map(parseSignature);
  const isParsed = (each: Signature | null): each is Signature => each !== null;
  return signatures.every(isParsed) ? { text: note.slice(0, end + 1), signatures } : null;
}

function parseSignature(line: string): Signature | null {
  const [, name, encoded] = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/u.exec(line) ?? [];
  const bytes = Buffer.from(encoded ?? '', 'base64');
  if (name === undefined || bytes.length < 5 || bytes.toString('base64') !== encoded) return null;
  return { name, keyId: bytes.subarray(0, 4), bytes: bytes.subarray(4) };
}

function keyIdOf({ kind, name, publicKey }: Verifier): Buffer {
  const identified = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(signatureTypes[kind]), publicKey]);
  return hash('sha256', identified, 'buffer').subarray(0, 4);
}

/** The key in the form `<name>+<key id>+<key>` (c2sp.org/signed-note, verifier keys). */
export function verifierText(verifier: Verifier): string {
  const key = Buffer.concat([Buffer.of(signatureTypes[verifier.kind]), verifier.publicKey]);
  return `${verifier.name}+${keyIdOf(verifier).toString('hex')}+${key.toString('base64')}`;
}

/** Null if the text is not such a key. */
export function readVerifier(text: string): Verifier | null {
  const [, name = '', id, encoded = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/u.exec(text.trim()) ?? [];
  const key = Buffer.from(encoded, 'base64');
  const kind = (['log', 'witness'] as const).find((each) => signatureTypes[each] === key[0]);
  if (!kind || key.length !== 33) return null;
  const verifier = { kind, name, publicKey: key.subarray(1) };
  return keyIdOf(verifier).toString('hex') === id ? verifier : null;
}

/** The 32 bytes of a key that is named as seals name it: SPKI in base64. */
export const rawKeyOf = (spki: string) => Buffer.from(spki, 'base64').subarray(-32);

const spkiHead = Buffer.from('302a300506032b6570032100', 'hex');

/**
 * The time of the signature that a known key has made, in seconds since 1970 (0 for a log's, which has none); null if it
 * has signed nothing, or not this text.
 */
export function signedAt({ text, signatures }: Note, verifier: Verifier): number | null {
  const id = keyIdOf(verifier);
  const isTimed = verifier.kind === 'witness';
  const publicKey = Buffer.concat([spkiHead, verifier.publicKey]).toString('base64');
  // Another witness may have added a line that names this key.
  for (const { name, keyId, bytes } of signatures) {
    if (name !== verifier.name || !keyId.equals(id) || bytes.length !== (isTimed ? 72 : 64)) continue;
    const seconds = isTimed ? Number(bytes.readBigUInt64BE()) : 0;
    const signature = bytes.subarray(-64).toString('base64');
    if (isSigned({ publicKey, signature }, isTimed ? cosignedText(text, seconds) : text)) return seconds;
  }
  return null;
}

/** How many of these must have signed a checkpoint. */
export type Witnesses = { known: readonly Verifier[]; needed: number };

/** A sentence if too few witnesses have signed the note by this time, in seconds since 1970; otherwise null. */
export function lackOfWitnesses(
  text: string,
  { known, needed }: Witnesses,
  untilSeconds = Infinity,
): string | null {
  const note = parseNote(text);
  const isSignedBy = (each: Verifier) => {
    const seconds = note && signedAt(note, each);
    return seconds !== null && seconds <= untilSeconds;
  };
  const signed = known.filter(isSignedBy).map(({ name }) => name);
  if (signed.length >= needed) return null;
  return `Of ${known.length} witnesses ${needed} must have signed the last seal, and these have: ${signed.join(', ') || 'none'}`;
}

/** The names of those that have signed a log's checkpoint beside the log, whether or not the signatures are right. */
export function cosignersOf(checkpoint: string): string[] {
  const { text = '', signatures = [] } = parseNote(checkpoint) ?? {};
  const names = new Set(signatures.map(({ name }) => name));
  names.delete(text.slice(0, text.indexOf('\n')));
  return [...names];
}

const cosignedText = (text: string, seconds: number) => `cosignature/v1\ntime ${seconds}\n${text}`;

/** The line that a log adds to a note's text. */
export function signatureLine(text: string, name: string, key: SealKey): string {
  return lineOf({ kind: 'log', name, publicKey: rawKeyOf(key.publicKey) }, key.sign(text));
}

/** The line that a witness adds at this time. */
export function cosignatureLine(text: string, name: string, key: SealKey, at: Date): string {
  const seconds = Math.floor(at.getTime() / 1000);
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(seconds));
  const verifier = { kind: 'witness', name, publicKey: rawKeyOf(key.publicKey) } as const;
  return lineOf(verifier, key.sign(cosignedText(text, seconds)), time);
}

function lineOf(verifier: Verifier, signature: string, time = Buffer.alloc(0)): string {
  const bytes = Buffer.concat([keyIdOf(verifier), time, Buffer.from(signature, 'base64')]);
  return `— ${verifier.name} ${bytes.toString('base64')}\n`;
}

/** What a checkpoint states: the root of the tree of `size` leaves of the log named `origin`. */
export type Checkpoint = { origin: string; size: number; root: Buffer };

export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`;
}

/**
 * The checkpoint of a signed note; a sentence on what is wrong if it is none, or no trusted key has signed it in its time.
 * With null, any signer is trusted.
 */
export function openCheckpoint(note: string, trusted: readonly KeyTerm[] | null): Checkpoint | string {
  const parsed = parseNote(note);
  const checkpoint = parsed && parseCheckpoint(parsed.text);
  if (!checkpoint) return 'It is not a checkpoint';
  const { origin: name, size } = checkpoint;
  const isIts = ({ publicKey, from, to }: KeyTerm) =>
    size >= from &&
    size <= to &&
    signedAt(parsed, { kind: 'log', name, publicKey: rawKeyOf(publicKey) }) !== null;
  return !trusted || trusted.some(isIts) ? checkpoint : 'The checkpoint was not signed with a trusted key';
}

/** Null if the text is not that of a checkpoint. Extension lines are ignored, as the format demands. */
export function parseCheckpoint(text: string): Checkpoint | null {
  const [, origin, digits, encoded = ''] =
    /^([^\n]+)\n(0|[1-9]\d{0,14})\n([A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*$/.exec(text) ?? [];
  const root = Buffer.from(encoded, 'base64');
  if (origin === undefined || root.toString('base64') !== encoded) return null;
  return { origin, size: Number(digits), root };
}
