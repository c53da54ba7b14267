/** Offers checkpoints to witnesses, and collects the lines that they sign them with. */
import type { Log } from '@ledger/kernel/log.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { parseNote } from './note.ts';

export type Offer = (
  note: string,
  /** The proof that the checkpoint continues that of a size; null if it is smaller. */
  prove: (size: number) => Promise<Buffer[] | null>,
) => Promise<string>;

const answerWithinMs = 5_000;
const maxAnswer = 4_096;
const notSigned = 'a witness did not sign the checkpoint';

/** `urls` are submission prefixes. What a witness does not sign in time is missing in the checkpoint, and logged. */
export function offerTo(
  urls: readonly string[],
  { post, runtime, log }: { post: typeof fetch; runtime: Pick<Runtime, 'timeout'>; log: Log },
): Offer {
  const sizes = new Map<string, number>();

  async function ask(url: string, note: string, prove: Parameters<Offer>[1], size: number): Promise<string> {
    const proof = await prove(size);
    if (!proof)
      throw new Error(`It has signed a checkpoint of ${size} events, which are more than this log has`);
    const lines = [`old ${size}`, ...proof.map((each) => each.toString('base64')), '', note];
    const response = await post(`${url}/add-checkpoint`, {
      method: 'POST',
      body: lines.join('\n'),
      // A witness is somebody else's machine, and must not send this one into its own network.
      redirect: 'manual',
      signal: runtime.timeout(answerWithinMs),
    });
    const text = await beginningOf(response);
    if (response.status === 409 && sizes.get(url) === undefined && /^\d{1,15}\n$/.test(text)) {
      sizes.set(url, Number(text));
      return await ask(url, note, prove, Number(text));
    }
    if (response.status !== 200 || text === '' || !canFollow(note, text))
      throw new Error(`It answered ${response.status}`);
    return text;
  }

  return async (note, prove) => {
    const answers = await Promise.all(
      urls.map(async (url) => {
        try {
          return { url, lines: await ask(url, note, prove, sizes.get(url) ?? 0) };
        } catch (error) {
          log.warn({ url, reason: reasonOf(error) }, notSigned);
          return { url, lines: '' };
        } finally {
          // Asked anew each time: another process may have led in between.
          sizes.delete(url);
        }
      }),
    );
    let signed = '';
    // The shortest first: a witness with very many lines must not keep out another, or make the note unreadable.
    for (const { url, lines } of answers.toSorted((a, b) => a.lines.length - b.lines.length))
      if (lines === '' || canFollow(note, signed + lines)) signed += lines;
      else log.warn({ url, reason: 'Its signatures are too many' }, notSigned);
    return signed;
  };
}

/** Whether they are signatures for the note: an empty line among them would make the note's own signature a part of its text. */
const canFollow = (note: string, lines: string) =>
  parseNote(note + lines)?.text === note.slice(0, note.lastIndexOf('\n\n') + 1);

/** The rest is not read: an answer may never end, and a few compressed bytes may become very many. */
async function beginningOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length >= maxAnswer) break;
  }
  return text.slice(0, maxAnswer);
}
