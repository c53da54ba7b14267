/** Warnings that an outage would repeat every few seconds, for as long as it lasts. */
import type { Logger } from 'pino';
import type { Runtime } from './runtime.ts';

const onceInMs = 60_000;

/** `log.warn`, except that the same message with the same reason is written once in a minute. */
export function warnSeldom(log: Pick<Logger, 'warn'>, runtime: Pick<Runtime, 'monotonicMs'>) {
  const written = new Map<string, number>();
  return (fields: { reason: string; [name: string]: unknown }, message: string): void => {
    const nowMs = runtime.monotonicMs();
    for (const [text, atMs] of written) if (nowMs - atMs >= onceInMs) written.delete(text);
    const text = `${message} ${fields.reason}`;
    if (written.has(text)) return;
    written.set(text, nowMs);
    log.warn(fields, message);
  };
}
