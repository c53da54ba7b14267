/** Lines that an outage would repeat every few seconds, for as long as it lasts. */
import type { Log } from './log.ts';
import type { Runtime } from './runtime.ts';

const onceInMs = 60_000;

/** Returns a function that says whether a text is new. The same text is new again after a minute. */
export function onceAMinute(runtime: Pick<Runtime, 'monotonicMs'>): (text: string) => boolean {
  const toldMs = new Map<string, number>();
  return (text) => {
    const nowMs = runtime.monotonicMs();
    for (const [told, atMs] of toldMs) if (nowMs - atMs >= onceInMs) toldMs.delete(told);
    if (toldMs.has(text)) return false;
    toldMs.set(text, nowMs);
    return true;
  };
}

/** `log.warn`, except that the same message with the same reason is written once in a minute. */
export function warnSeldom(log: Pick<Log, 'warn'>, runtime: Pick<Runtime, 'monotonicMs'>) {
  const isNew = onceAMinute(runtime);
  return (fields: { reason: string; [name: string]: unknown }, message: string): void => {
    if (isNew(`${message} ${fields.reason}`)) log.warn(fields, message);
  };
}
