/**
 * Values for variables that are not set: the keys of a data folder, generated once and kept, and the addresses of the
 * embedded stores that are running. Other commands that use the same data folder read both from here.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '@ledger/kernel/or-else.ts';
import { codeOf } from '@ledger/kernel/reason-of.ts';
import { replaceFile } from '@ledger/kernel/whole-file.ts';
import { is, record, string } from 'superstruct';
import { StartError } from './start-error.ts';

/** The only user of the embedded event store. */
export const USER = 'ledger';

/** The mode of the files written here, which hold secrets. */
const onlyForOwner = 0o600;

export type Variables = Readonly<Record<string, string>>;

/**
 * The development keys of a data folder, whose lock the caller holds. They are generated at the first start and never
 * changed, because every transaction id in the folder is derived from one of them, and personal data can be read only
 * with another. A key that a folder of an earlier release lacks is added.
 *
 * @throws StartError if the keys cannot be read, or if they are missing although the folder holds events
 */
export async function developmentKeys(dataDir: string): Promise<Variables> {
  const file = join(dataDir, 'keys.json');
  const existing = readJson(file);
  const added = { SEAL_KEY: newKey(), DATA_KEY: newDataKey(), LINK_KEY: newKey() };
  if (existing && Object.keys(added).every((name) => existing[name])) return existing;
  if (!existing && existsSync(join(dataDir, 'eventstore.db')))
    throw new StartError(
      `${file} is missing, but eventstore.db beside it holds events whose transaction ids were derived from a key ` +
        'in it. Restore keys.json from the backup of this folder, or set DATA_DIR to another folder.',
    );
  const first = { TRANSACTION_ID_KEY: newKey(), GATEWAY_SECRET: newKey() };
  const keys = { ...added, ...(existing ?? first) };
  await replaceFile(file, jsonOf(keys), onlyForOwner);
  return keys;
}

const jsonOf = (variables: Variables) => `${JSON.stringify(variables, null, 2)}\n`;
const newKey = () => randomBytes(32).toString('hex');
const newDataKey = () => randomBytes(32).toString('base64');

/**
 * Sets a new password of the embedded event store, to be called before each of its starts: `user:password`, and the file,
 * which is for its owner alone. After a crash another account can listen at the address of the store that ended, and a
 * command run meanwhile sends it the password: with the next start it is worth nothing.
 */
export async function newEventStoreCredentials(
  dataDir: string,
): Promise<{ file: string; credentials: string }> {
  const file = join(dataDir, 'eventstore-password');
  const password = newKey();
  await replaceFile(file, password, onlyForOwner);
  return { file, credentials: `${USER}:${password}` };
}

/** Writes the addresses of the stores that `ledger serve` runs, for other commands. */
export async function writeEndpoints(dataDir: string, endpoints: Variables): Promise<void> {
  await replaceFile(join(dataDir, 'endpoints.json'), jsonOf(endpoints), onlyForOwner);
}

/** The keys and addresses of a data folder; empty if `ledger serve` has never run on it. Throws StartError. */
export function readEndpoints(dataDir: string): Variables {
  return { ...readJson(join(dataDir, 'keys.json')), ...readJson(join(dataDir, 'endpoints.json')) };
}

/** Null only if the file does not exist: an unreadable file must never be replaced by a new one. */
function readJson(file: string): Variables | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new StartError(`${file} cannot be read: ${String(error)}`, { cause: error });
  }
  const content: unknown = orElse(() => JSON.parse(text), null);
  if (!is(content, record(string(), string())))
    throw new StartError(
      `${file} is damaged: it does not hold variables. Restore it from the backup of this folder.`,
    );
  return content;
}
