/** Structured logs: JSON lines, pretty on a terminal. They never contain secrets, personal data or amounts. */
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

import { createLogOutput } from './log-output.ts';

export type Log = Logger;

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];

/** A derived id gives access to what it names, so only the beginning of each one is logged. */
function shortened(text: string): string {
  return text.replaceAll(/\b([0-7][0-9A-HJKMNP-TV-Z]{5})[0-9A-HJKMNP-TV-Z]{20}\b/g, '$1…');
}

/** The fields of a log line; derived ids, which have 26 digits, are shortened in texts, but not in nested values. */
function shortenTexts(fields: Record<string, unknown>): Record<string, unknown> {
  const shown = { ...fields };
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string' && value.length >= 26) shown[name] = shortened(value);
  return shown;
}

/**
 * An error as it is logged: only these four fields, because libraries attach what they were working on to their errors
 * (Node's parser the raw bytes of a request, the database driver its values).
 */
function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { type, message, stack, code } = pino.stdSerializers.err(error);
  return { type, code, message: shortened(message), stack: shortened(stack) };
}

/** The logger of a process; `role` names the part of the program that logs. */
export function createLog(
  level: LogLevel,
  role: string,
  destination: 'stdout' | 'stderr' | DestinationStream = 'stdout',
): Log {
  const isStream = typeof destination === 'object';
  const pretty = !isStream && process[destination].isTTY === true;
  const options: LoggerOptions = {
    level,
    base: { role },
    serializers: { err: serializeError },
    formatters: { log: shortenTexts },
    timestamp: pino.stdTimeFunctions.isoTime,
    ...(pretty && {
      transport: {
        target: 'pino-pretty',
        options: {
          ignore: 'pid,hostname,role',
          translateTime: 'HH:MM:ss',
          destination: destination === 'stderr' ? 2 : 1,
        },
      },
    }),
  };
  if (pretty) return pino(options);
  return pino(options, isStream ? destination : createLogOutput(destination === 'stderr' ? 2 : 1));
}
