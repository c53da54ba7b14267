/** What short commands run with: the configuration, connections that are closed at the end, and a cause for their events. */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { createLog } from '@ledger/kernel/log.ts';
import { orElse } from '@ledger/kernel/or-else.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import type { PersonalData } from '@ledger/personal-data/personal-data.ts';
import { InvalidFields } from '../commands/fields.ts';
import type { Config } from '../config/config.ts';
import type { VariableName } from '../config/environment-reader.ts';
import { type Cause, ownCause } from '../events/envelope.ts';
import { assertStores, loadRoleConfig, type OpenStores, openStores, type Store } from '../roles/stores.ts';
import { asUsageError, type CommandOutcome } from './command.ts';

/** The parts of the configuration that a command may use besides the stores, with the variables behind each. */
const variablesOf = {
  dataKeys: ['DATA_KEY', 'DATA_KEY_PREVIOUS'],
  linkKeys: ['LINK_KEY', 'LINK_KEY_PREVIOUS', 'TRANSACTION_ID_KEY'],
  mail: ['SMTP_URL', 'MAIL_FROM'],
  merchants: ['MERCHANTS_FILE'],
  sealKeys: ['SEAL_KEY', 'SEAL_KEY_PREVIOUS'],
  transactionIdKey: ['TRANSACTION_ID_KEY'],
} as const satisfies Partial<Record<keyof Config, readonly VariableName[]>>;
type Part = keyof typeof variablesOf;
const always = ['ALLOW_INSECURE', 'DATABASE_URL', 'DATA_DIR', 'ESDB_URL', 'LOG_LEVEL', 'NODE_ENV'] as const;

/** `Used` are the parts of the configuration that the command demands; without `dataKeys`, there may be no DATA_KEY. */
export type Context<Used extends Part = never> = Omit<OpenStores, 'config' | 'personalData'> & {
  config: Pick<Config, Used | 'databaseUrl' | 'dataDir' | 'dataKeys' | 'esdbUrl'>;
  personalData: 'dataKeys' extends Used ? PersonalData : PersonalData | null;
};

/** For a command that has no personal data to open. */
const neverUsedKey = Buffer.alloc(32).toString('base64');

type Requirements<Used extends Part> = {
  uses?: readonly Used[];
  /** Its account in the event store need not be able to append. */
  onlyReads?: boolean;
  /** The stores without which it cannot begin: both, if nothing is said. */
  needs?: readonly Store[];
  longestQueryMs?: number;
};

/** Runs `work` on the stores, which are closed at its end. Throws UsageError for invalid fields. */
export async function withStores<Used extends Part = never>(
  name: string,
  requirements: Requirements<Used>,
  work: (context: Context<Used>) => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const { uses = [], onlyReads = false, needs = ['eventStore', 'postgres'], ...longestQuery } = requirements;
  const config = loadRoleConfig({ uses: [...always, ...uses.flatMap((part) => variablesOf[part])] });
  const asserted = assertStores({ ...config, appends: !onlyReads, needs });
  if (needs.length > 0) await asserted;
  const hasKeys = config.dataKeys.current !== '';
  const dataKeys = hasKeys ? config.dataKeys : { current: neverUsedKey, previous: [] };
  // A command that can do without a store says itself that the store does not answer.
  const log = createLog(needs.length > 1 ? 'warn' : 'silent', name, 'stderr');
  const stores = openStores({ ...config, dataKeys }, log, systemRuntime, longestQuery);
  const personalData = hasKeys ? stores.personalData : null;
  try {
    // A command that records something tells the time by PostgreSQL, even if it needs nothing else of it.
    if (needs.includes('postgres') || !onlyReads) await stores.clock.start();
    // A command that uses the keys has them: otherwise the configuration would be at fault.
    const [outcome] = await Promise.all([work({ ...stores, personalData } as Context<Used>), asserted]);
    return outcome;
  } catch (error) {
    throw error instanceof InvalidFields ? asUsageError(error) : error;
  } finally {
    await stores.stop();
  }
}

/**
 * Runs `work` on the stores. When the journal lacks entries, standard error says so, and `whenBehind` decides whether the
 * command still runs: an amount on the terminal may be incomplete, a document may not.
 */
export async function withJournal(
  { asOf: asOfAt, whenBehind }: { asOf: (now: Date) => Date; whenBehind: 'warn' | 'refuse' },
  work: (context: Context<'merchants'> & { asOf: Date }) => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const { journalGap } = await import('../projections/journal/queries.ts');
  return await withStores('journal', { uses: ['merchants'], onlyReads: true }, async (context) => {
    const asOf = asOfAt(context.runtime.now());
    const gap = await journalGap(asOf, context);
    if (gap) process.stderr.write(`${gap.message}.\n`);
    if (gap?.kind === 'missing' || (gap?.kind === 'behind' && whenBehind === 'refuse')) return 1;
    return await work({ ...context, asOf });
  });
}

/** The cause of a command given by the user who is logged in on this machine. */
export const staffCause = (): Cause => ownCause(randomUUID(), `staff:${userName()}`);

/** In a container, an account may have a number but no name. */
const userName = () => orElse(() => userInfo().username, `uid-${process.getuid?.()}`);

/** Prints on standard error, and returns the exit code of a failure. */
export function fail(text: string): 1 {
  process.stderr.write(`${text}\n`);
  return 1;
}
