/** Structured logs: JSON lines, pretty on a terminal. No secret, no personal data, no amount ever goes in. */
import { type Logger, pino } from 'pino';
import type { LogLevel } from './config.ts';

export type Log = Logger;

/** One logger for a process; `role` says which part of the program speaks. */
export function createLog(level: LogLevel, role: string): Log {
  const pretty = process.stdout.isTTY === true;
  return pino({
    level,
    base: { role },
    timestamp: pino.stdTimeFunctions.isoTime,
    ...(pretty && {
      transport: {
        target: 'pino-pretty',
        options: { ignore: 'pid,hostname,role', translateTime: 'HH:MM:ss' },
      },
    }),
  });
}
