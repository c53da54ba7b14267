/** The keys that can be replaced while the program runs: those of the links, of the seals, and of the personal data. */
import { type WrappingKeys, wrappingKeys } from '@ledger/personal-data/key-store.ts';
import { createPersonalData, type PersonalData } from '@ledger/personal-data/personal-data.ts';
import { createPostgresKeyStore, destroyedChannel } from '@ledger/personal-data/postgres-key-store.ts';
import { listenForNotifications } from '@ledger/postgres/notifications.ts';
import type { Config } from '../../../src/config/config.ts';
import { madeWithKeys } from '../../../src/projections/payments/payers.ts';
import type { OpenStores } from '../../../src/roles/stores.ts';

export const keyNames = ['link', 'seal', 'data'] as const;
export type KeyName = (typeof keyNames)[number];

/** What a machine has of each: the first is in use, and the others are known beside it. */
export type Keys = Readonly<Record<KeyName, readonly string[]>>;

const makers: Readonly<Record<KeyName, (number: number) => string>> = {
  link: (number) => `the-link-key-of-the-simulation-no-${number}`,
  seal: (number) => `5ea${number}`.repeat(16),
  data: (number) => Buffer.alloc(32, `data ${number}`).toString('base64'),
};

/** `number` counts from 1, which is the key that everything begins with. */
export const keyOf = (name: KeyName, number: number): string => makers[name](number);

export const firstKeys: Keys = {
  link: [keyOf('link', 1)],
  seal: [keyOf('seal', 1)],
  data: [keyOf('data', 1)],
};

/** As content/docs/upgrading.md says, while processes run of the previous release, which signs under another key. */
export const keysWhileUpgrading: Keys = { ...firstKeys, link: ['', keyOf('link', 1)] };

export const variablesOf = ({ link, seal, data }: Keys): Record<string, string> => {
  const of = (name: string, [current = '', ...others]: readonly string[]) => ({
    [name]: current,
    ...(others.length > 0 && { [`${name}_PREVIOUS`]: others.join(',') }),
  });
  return { ...of('LINK_KEY', link), ...of('SEAL_KEY', seal), ...of('DATA_KEY', data) };
};

/** The personal data of staff, whose process lives on while its data keys are replaced. */
export function withKeysReplaced(
  { db, databaseUrl, log, runtime }: Pick<OpenStores<Config>, 'db' | 'databaseUrl' | 'log' | 'runtime'>,
  first: Keys,
): { personalData: PersonalData; setKeys(keys: Keys): void } {
  const of = ({ data: [current = '', ...previous] }: Keys) => wrappingKeys(current, previous);
  const wrapping: WrappingKeys = { ...of(first) };
  const personalData = createPersonalData({
    store: createPostgresKeyStore({ db, madeWithKeys, wrapping, runtime }),
    listen: (onNotification) =>
      listenForNotifications({ databaseUrl, channel: destroyedChannel, onNotification, log, runtime }),
    isNew: ({ type }) => type === 'PaymentRequested',
    log,
    runtime,
  });
  return { personalData, setKeys: (keys) => void Object.assign(wrapping, of(keys)) };
}
