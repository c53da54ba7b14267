/** Offers checkpoints to witnesses, and collects the lines that they sign them with. */
import type { Log } from '@ledger/kernel/log.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { maxSignatures, parseNote } from './note.ts';

export type Offer = (
  note: string,
  /** The proof that the checkpoint continues that of a size; null if it is smaller. */
  prove: (size: number) => Promise<Buffer[] | null>,
) => Promise<string>;

const answerWithinMs = 5_000;
const maxAnswer = 4_096;

/** `urls` are submission prefixes. What a witness does not sign in time is missing in the checkpoint, and logged. */
export function offerTo(
  urls: readonly string[],
  { post, runtime, log }: { post: typeof fetch; runtime: Pick<Runtime, 'timeout'>; log: Log },
): Offer {
  /** How many lines each witness may add, so that nobody makes the checkpoint unreadable. */
  const share = Math.floor((maxSignatures - 1) / urls.length);

  /** `signed` is the size that the witness says it has signed. Each offer asks anew: another process may have led in between. */
  async function ask(url: string, offer: Parameters<Offer>, signed?: number): Promise<string> {
    const [note, prove] = offer;
    const size = signed ?? 0;
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
    if (response.status === 409 && signed === undefined && /^\d{1,15}\n$/.test(text))
      return await ask(url, offer, Number(text));
    // After a blank line, everything before it would be the text of the note.
    const { text: witnessed, signatures = [] } = parseNote(note + text) ?? {};
    const isOfNote = witnessed === note.slice(0, note.indexOf('\n\n') + 1);
    if (response.status !== 200 || !isOfNote || signatures.length < 2 || signatures.length > share + 1)
      throw new Error(`It answered ${response.status}`);
    return text;
  }

  return async (...offer) => {
    const lines = await Promise.all(
      urls.map(async (url) => {
        try {
          return await ask(url, offer);
        } catch (error) {
          log.warn({ url, reason: reasonOf(error) }, 'a witness did not sign the checkpoint');
          return '';
        }
      }),
    );
    return lines.join('');
  };
}

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
