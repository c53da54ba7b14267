/** GET /console/projections/progress: the progress of rebuilds, as server-sent events. */
import { Readable } from 'node:stream';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { HttpProblem } from '../../server/context.ts';
import type { Page } from '../frame/page.ts';
import type { RebuildView } from './rebuilds.ts';

/** Each keeps a connection open. */
const maxWatching = 20;
const everyMs = 1_000;
/** A comment is sent this often when there is no news, so that no proxy closes the connection as idle. */
const keepAliveMs = 10_000;
/** The session is checked only when a stream begins; browsers open a new one when it ends. */
const longestMs = 3 * 60_000;

export function createStreamProgress(): Page {
  let watching = 0;
  return async (ctx, { closing, lookAtRebuilds, runtime }) => {
    if (watching >= maxWatching)
      throw new HttpProblem(503, 'Too many browsers are watching the progress; try again later');
    const gone = new AbortController();
    watching += 1;
    ctx.res.once('close', () => {
      watching -= 1;
      gone.abort();
    });
    const signal = AbortSignal.any([gone.signal, closing]);
    ctx.type = 'text/event-stream';
    ctx.set('X-Accel-Buffering', 'no');
    ctx.body = Readable.from(progressMessages(lookAtRebuilds, runtime, signal));
  };
}

/** A message whenever something changed; ends when the signal aborts, and after three minutes. */
async function* progressMessages(
  lookAtRebuilds: () => Promise<RebuildView[]>,
  runtime: Pick<Runtime, 'monotonicMs' | 'sleep'>,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  const startedMs = runtime.monotonicMs();
  let sentMs = startedMs;
  let sent = '';
  yield `retry: ${everyMs}\n\n`;
  while (!signal.aborted && runtime.monotonicMs() - startedMs < longestMs) {
    const views = await lookAtRebuilds().catch(() => null);
    const data = views === null ? sent : JSON.stringify(views.map(({ last: _, ...view }) => view));
    if (data !== sent || runtime.monotonicMs() - sentMs >= keepAliveMs) {
      yield data === sent ? ':\n\n' : `data: ${data}\n\n`;
      sentMs = runtime.monotonicMs();
      sent = data;
    }
    await runtime.sleep(everyMs, signal);
  }
}
