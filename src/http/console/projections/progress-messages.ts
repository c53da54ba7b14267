/** Server-sent events of how far rebuilds are. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RebuildView } from './rebuilds.ts';

const everyMs = 1_000;
/** Says now and then that it is still there, so that nothing in between takes the connection for idle. */
const keepAliveMs = 10_000;
/** The session is looked at when a stream begins, and browsers begin a new one by themselves. */
const longestMs = 3 * 60_000;

/** A message whenever something changed; ends when the signal aborts, and after three minutes. */
export async function* progressMessages(
  look: () => Promise<RebuildView[]>,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  const startedMs = performance.now();
  let saidMs = startedMs;
  let said = '';
  yield `retry: ${everyMs}\n\n`;
  while (!signal.aborted && performance.now() - startedMs < longestMs) {
    const views = await look().catch(() => null);
    const data = views === null ? said : JSON.stringify(views.map(({ last: _, ...view }) => view));
    if (data !== said) yield `data: ${data}\n\n`;
    else if (performance.now() - saidMs >= keepAliveMs) yield ':\n\n';
    if (data !== said || performance.now() - saidMs >= keepAliveMs) saidMs = performance.now();
    said = data;
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
}
