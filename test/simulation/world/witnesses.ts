/** Machines of other organisations that sign the checkpoints of the log, more or less well. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { sealKeyOf } from '@ledger/transparency-log/key.ts';
import { cosignatureLine, rawKeyOf, type Verifier } from '@ledger/transparency-log/note.ts';
import { createWitness } from '@ledger/transparency-log/witness.ts';
import type { History } from '../engine/history.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { WitnessMood } from '../plan.ts';
import { keyOf } from '../program/keys.ts';

/** Just within the time that the program waits for it. */
const slowMs = 4_000;
/** So many keys of seals their owners know at first: operators tell them of each that follows. */
const sealKeys = 9;
const origin = 'pay.example/ledger';

export type Witnesses = ReturnType<typeof startWitnesses>;

export function startWitnesses(machine: (name: string) => SimulatedProcess, history: History) {
  const processes = [1, 2].map((number) => machine(`witness-${number}.example`));
  const logs = Array.from({ length: sealKeys }, (_, index): Verifier => {
    const { publicKey } = sealKeyOf(keyOf('seal', index + 1));
    return { kind: 'log', name: origin, publicKey: rawKeyOf(publicKey) };
  });
  const witnesses = processes.map((process, index) => start(process, index, logs));
  return {
    /** For the program. */
    urls: processes.map(({ name }) => `http://${name}`),
    setMood(index: number, mood: WitnessMood): void {
      const witness = witnesses[index];
      if (!witness) return;
      witness.mood = mood;
      history.tell(`witness ${index}: ${mood}`);
    },
    /** Those that an auditor knows. */
    known: witnesses.map(({ verifier }) => verifier),
  };
}

function start(process: SimulatedProcess, index: number, logs: readonly Verifier[]) {
  const name = `${process.name}/1`;
  const key = sealKeyOf(`${index}`.repeat(64));
  const kept = new Map<string, string>();
  const add = createWitness({
    name,
    key,
    logs,
    kept: {
      load: async (log) => kept.get(log) ?? null,
      save: async (log, note) => void kept.set(log, note),
    },
    now: () => new Date(process.nowMs()),
  });
  /** Answers that look like those of a witness, and are not. */
  const lies = (note: string) => [
    { status: 409, text: '999999999\n' },
    { status: 200, text: cosignatureLine(`${origin}\n1\nAAAA\n`, name, key, new Date(process.nowMs())) },
    { status: 200, text: `\n${note}` },
    { status: 200, text: 'signed'.repeat(100_000) },
  ];
  let offers = 0;
  const witness = {
    mood: 'well' as WitnessMood,
    verifier: { kind: 'witness', name, publicKey: rawKeyOf(key.publicKey) } as const,
  };
  process.enter(() =>
    createServer(async (request, response) => {
      const body = await text(request);
      const { mood } = witness;
      if (mood === 'hangs') return;
      if (mood === 'slow') await process.runtime.sleep(slowMs);
      offers += 1;
      const said = lies(body.slice(body.indexOf('\n\n') + 2));
      const lie = mood === 'lies' ? said[offers % said.length] : undefined;
      const answer = lie ?? (mood === 'refuses' ? { status: 500, text: '' } : await add(body));
      response.statusCode = answer.status;
      response.end(answer.text);
    }).listen(80),
  );
  return witness;
}
