/** A witness (c2sp.org/tlog-witness): cosigns the checkpoints of logs, each only if it continues the one before. */
import type { SealKey } from './key.ts';
import {
  type Checkpoint,
  cosignatureLine,
  type Note,
  parseCheckpoint,
  parseNote,
  signedAt,
  type Verifier,
} from './note.ts';
import { isConsistent } from './tree.ts';

type WitnessAnswer = { status: number; type: string; text: string };

type Dependencies = {
  name: string;
  key: SealKey;
  /** The logs whose checkpoints it signs, by name and key; a key that comes later ends the time of those before it. */
  logs: readonly Verifier[];
  /** The last checkpoint that it signed of each log, as signed notes; `save` resolves when it is on disk. */
  kept: { load(origin: string): Promise<string | null>; save(origin: string, note: string): Promise<void> };
  now: () => Date;
};

/** The function returned answers the body of `add-checkpoint`; one at a time, so that none goes behind another. */
export function createWitness(dependencies: Dependencies): (body: string) => Promise<WitnessAnswer> {
  let turn: Promise<unknown> = Promise.resolve();
  return (body) => {
    const answer = turn.then(() => addCheckpoint(body, dependencies));
    turn = answer.catch(() => {});
    return answer;
  };
}

const answer = (status: number, text = '', type = 'text/plain'): WitnessAnswer => ({ status, type, text });

async function addCheckpoint(
  body: string,
  { name, key, logs, kept, now }: Dependencies,
): Promise<WitnessAnswer> {
  const request = parseRequest(body);
  if (!request) return answer(400);
  const { oldSize, proof, note, checkpoint, text } = request;
  const known = logs.filter((log) => log.name === checkpoint.origin);
  if (known.length === 0) return answer(404);
  const signerOf = (each: Note) => known.findLastIndex((log) => signedAt(each, log) !== null);
  const signer = signerOf(note);
  if (signer < 0) return answer(403);
  if (oldSize > checkpoint.size) return answer(400);
  const stored = await kept.load(checkpoint.origin);
  const signed = parseNote(stored ?? '');
  // Otherwise it would sign from the beginning again, and with that any other history.
  if (stored !== null && !parseCheckpoint(signed?.text ?? ''))
    throw new Error('The checkpoint that was signed last cannot be read');
  if (signed && signer < signerOf(signed)) return answer(403);
  const last = signed && parseCheckpoint(signed.text);
  const conflict = answer(409, `${last?.size ?? 0}\n`, 'text/x.tlog.size');
  if (oldSize !== (last?.size ?? 0)) return conflict;
  if (last && last.size === checkpoint.size && !last.root.equals(checkpoint.root)) return conflict;
  const before = last ?? { size: 0, root: Buffer.alloc(0) };
  if (!isConsistent(before, checkpoint, proof)) return answer(422);
  await kept.save(checkpoint.origin, text);
  return answer(200, cosignatureLine(note.text, name, key, now()));
}

const maxProof = 63;

function parseRequest(body: string) {
  const end = body.indexOf('\n\n');
  const [first = '', ...lines] = body.slice(0, end).split('\n');
  const [, oldSize] = /^old (0|[1-9]\d{0,14})$/.exec(first) ?? [];
  const proof = lines.map((line) => Buffer.from(line, 'base64'));
  const isProof = proof.every((each, at) => each.length === 32 && each.toString('base64') === lines[at]);
  const text = body.slice(end + 2);
  const note = parseNote(text);
  const checkpoint: Checkpoint | null = note && parseCheckpoint(note.text);
  if (oldSize === undefined || !isProof || proof.length > maxProof || !note || !checkpoint) return null;
  return { oldSize: Number(oldSize), proof, note, checkpoint, text };
}
