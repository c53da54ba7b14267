/** As much of PostgreSQL's wire protocol as a go-between must understand: where messages begin and what kind they are. */

export type WireMessage = { type: string; bytes: Buffer };

/** Splits a stream of bytes into messages. The first one of a client has no type: it is called `start`. */
export function createSplitter(isClient: boolean): (bytes: Buffer) => WireMessage[] {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = isClient;
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const messages: WireMessage[] = [];
    for (;;) {
      const header = isFirst ? 4 : 5;
      if (rest.length < header) return messages;
      const length = rest.readUInt32BE(header - 4) + header - 4;
      if (rest.length < length) return messages;
      const message = rest.subarray(0, length);
      messages.push({ type: isFirst ? 'start' : String.fromCharCode(message[0] ?? 0), bytes: message });
      isFirst = false;
      rest = rest.subarray(length);
    }
  };
}

/** A message of a type with a body. */
export function wireMessage(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

/** The columns of a row, as text; what is null is empty. */
export function valuesOf(row: Buffer): string[] {
  const values: string[] = [];
  for (let at = 7; at < row.length; ) {
    const length = Math.max(0, row.readInt32BE(at));
    values.push(row.toString('utf8', at + 4, at + 4 + length));
    at += 4 + length;
  }
  return values;
}

export const text = (value: string): Buffer => Buffer.from(`${value}\0`);

/** Settings of a session that would count real time: the simulated server has its own clock for them. */
const timedSettings = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'] as const;
const waits = /\b(?<!\.)(?=(?:statement|lock)_timeout\b)/g;
export type TimedSettings = Partial<Record<(typeof timedSettings)[number], number>>;

/** The message that opens a session, for another database, without a name and without what counts real time. */
export function rewriteStart(
  bytes: Buffer,
  database: string,
): { bytes: Buffer; applicationName: string; timed: TimedSettings } {
  const fields = bytes.subarray(8).toString('utf8').split('\0');
  const timed: TimedSettings = {};
  const kept: string[] = [];
  let applicationName = '';
  for (let index = 0; index + 1 < fields.length && fields[index] !== ''; index += 2) {
    const [name = '', value = ''] = [fields[index], fields[index + 1]];
    const limit = timedSettings.find((each) => each === name);
    if (limit) timed[limit] = Number(value);
    else if (name === 'application_name') applicationName = value;
    else
      kept.push(name, name === 'database' ? database : value.replace(/(idle_session_timeout)=\d+/, '$1=0'));
  }
  return { bytes: startMessage(kept), applicationName, timed };
}

/** The message that opens a session; names and values in turn. */
export function startMessage(settings: readonly string[]): Buffer {
  // Version 3.0 of the protocol. Such a message has no type.
  return wireMessage('', Buffer.concat([Buffer.from([0, 3, 0, 0]), ...settings.map(text), Buffer.from([0])]));
}

/**
 * Has those of a session's statements that ask for the time, announce something or limit a wait parsed whenever they are
 * executed, without their names: one that is parsed once would keep the time at which that was, and its later uses would
 * not show what it does.
 */
export function createUnnaming(): (message: WireMessage) => WireMessage[] {
  const parsed = new Map<string, Buffer>();
  const message = (type: string, ...parts: Buffer[]) => ({
    type,
    bytes: wireMessage(type, Buffer.concat(parts)),
  });
  const unnamed = Buffer.from([0]);
  return (given) => {
    const { type, bytes } = given;
    if (type !== 'P' && type !== 'B') return [given];
    // The name follows the length in a Parse, and the name of the portal in a Bind.
    const start = type === 'P' ? 5 : bytes.indexOf(0, 5) + 1;
    const end = bytes.indexOf(0, start);
    const name = bytes.toString('utf8', start, end);
    const rest = bytes.subarray(end + 1);
    if (type === 'P') {
      const sql = sqlOf(given);
      if (name === '' || !(announces(sql) || asksForTime(sql) || limitsWaits(sql))) return [given];
      parsed.set(name, Buffer.from(rest));
      return [];
    }
    const statement = parsed.get(name);
    if (!statement) return [given];
    return [message('P', unnamed, statement), message('B', bytes.subarray(5, start), unnamed, rest)];
  };
}

const clockFunctions =
  /\b(?:now|clock_timestamp|transaction_timestamp|statement_timestamp)\s*\(\s*\)|\bcurrent_timestamp\b/gi;

const asksForTime = (sql: string): boolean => sql.search(clockFunctions) >= 0;

/** Whether a statement tells sessions that listen. */
export const announces = (sql: string): boolean => /\bpg_notify\b|^\s*notify\b/i.test(sql);

/** Whether a statement says how long the ones that follow in its transaction may wait. */
export const limitsWaits = (sql: string): boolean => sql.search(waits) >= 0;

/** Asks how long that is, as the session has it under names of our own. Empty for what it has not said. */
export const askForLimits = ['lock_timeout', 'statement_timeout'].map(
  (name) => `select current_setting('simulation.${name}', true)`,
);

/** `5s`, `300ms` or `300` in milliseconds; undefined for anything else. */
export function durationOf(value: string): number | undefined {
  const [, digits, unit] = /^(\d+)(ms|s)?$/.exec(value) ?? [];
  return digits === undefined ? undefined : Number(digits) * (unit === 's' ? 1_000 : 1);
}

/** The channel to which a statement listens; null if it does not. The simulator knows it as the program writes it. */
export function channelOf(sql: string): string | null {
  const [, channel = null] = /^listen "([^"]+)"$/.exec(sql) ?? [];
  if (channel === null && /^\s*(?:un)?listen\b/i.test(sql)) throw new Error(`Not known: ${sql}`);
  return channel;
}

/** Whether a statement only begins a transaction of the usual kind: each statement in it sees what is committed by then. */
export const begins = (sql: string): boolean => /^begin;?$/i.test(sql);

/**
 * A message with the statement `sql`, in which PostgreSQL's clock shows `now`, and limits of waits are not the server's.
 * Values travel apart and stay as they are.
 */
export function withClock({ type, bytes }: WireMessage, sql: string, now: Date): Buffer {
  if (!asksForTime(sql) && !limitsWaits(sql)) return bytes;
  const body = bytes.subarray(5);
  const start = type === 'P' ? body.indexOf(0) + 1 : 0;
  const end = body.indexOf(0, start);
  const replaced = sql
    .replace(clockFunctions, `(timestamptz '${now.toISOString()}')`)
    .replace(waits, 'simulation.');
  return wireMessage(
    type,
    Buffer.concat([body.subarray(0, start), Buffer.from(replaced), body.subarray(end)]),
  );
}

/** The SQL of a Query or Parse message; `''` for any other. */
export function sqlOf({ type, bytes }: WireMessage): string {
  if (type !== 'Q' && type !== 'P') return '';
  const start = type === 'P' ? bytes.indexOf(0, 5) + 1 : 5;
  return bytes.toString('utf8', start, bytes.indexOf(0, start));
}

/** An error; one that is FATAL ends the session. */
export function errorMessage(severity: 'ERROR' | 'FATAL', code: string, message: string): Buffer {
  const fields = [`S${severity}`, `V${severity}`, `C${code}`, `M${message}`].map(text);
  return wireMessage('E', Buffer.concat([...fields, Buffer.from([0])]));
}
