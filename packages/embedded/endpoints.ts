/**
 * What the embedded parts supply in place of variables that are not set: keys made once and kept for good, and the
 * addresses of the stores that run now. Other commands of the same data folder read both from here.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { is, record, string } from 'superstruct';
import { StartError } from './start-error.ts';

export type Variables = Readonly<Record<string, string>>;

/**
 * The development keys of a data folder whose lock the caller holds: made at the first start, never changed,
 * since every transaction id of the folder is derived from one of them. A folder that has no key for seals yet gets one.
 *
 * @throws StartError when they cannot be read, or are missing beside events that they belong to
 */
export function developmentKeys(dataDir: string): Variables {
  const file = join(dataDir, 'keys.json');
  const existing = readJson(file);
  if (existing?.SEAL_KEY) return existing;
  if (existing) return keep(dataDir, { ...existing, SEAL_KEY: newKey() });
  if (existsSync(join(dataDir, 'eventstore.db')))
    throw new StartError(
      `${file} is missing, but eventstore.db beside it holds events whose transaction ids were derived from a key ` +
        'in it. Restore keys.json from the backup of this folder, or set DATA_DIR to another folder.',
    );
  return keep(dataDir, { TRANSACTION_ID_KEY: newKey(), GATEWAY_SECRET: newKey(), SEAL_KEY: newKey() });
}

const newKey = () => randomBytes(32).toString('hex');

function keep(dataDir: string, keys: Variables): Variables {
  writeJson(dataDir, 'keys.json', keys);
  return keys;
}

/** Notes the addresses of the stores that `ledger serve` runs, for other commands. */
export function writeEndpoints(dataDir: string, endpoints: Variables): void {
  writeJson(dataDir, 'endpoints.json', endpoints);
}

/** Keys and addresses of a data folder; empty where no `ledger serve` has run. Throws StartError. */
export function readEndpoints(dataDir: string): Variables {
  return { ...readJson(join(dataDir, 'keys.json')), ...readJson(join(dataDir, 'endpoints.json')) };
}

/** Null only where there is no such file: one that cannot be read must never be taken for none and replaced. */
function readJson(file: string): Variables | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new StartError(`${file} cannot be read: ${String(error)}`, { cause: error });
  }
  const content = parsed(text);
  if (!is(content, record(string(), string())))
    throw new StartError(
      `${file} is damaged: it holds no variables. Restore it from the backup of this folder.`,
    );
  return content;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Written whole beside the file and renamed: a crash leaves the old one or the new one. Holds secrets: 0600. */
function writeJson(folder: string, name: string, content: Variables): void {
  const file = join(folder, name);
  const draft = openSync(`${file}.new`, 'w', 0o600);
  writeSync(draft, `${JSON.stringify(content, null, 2)}\n`);
  fsyncSync(draft);
  closeSync(draft);
  renameSync(`${file}.new`, file);
  syncFolder(folder);
}

/** The new name too must outlive a power cut. Windows opens no folders and needs none of this. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const opened = openSync(folder, 'r');
  fsyncSync(opened);
  closeSync(opened);
}
