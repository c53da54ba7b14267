/** `ledger keys`: the keys of personal data, when DATA_KEY is replaced or Postgres has been restored from a backup. */

import { type Command, UsageError } from './command.ts';
import { readErasedKeys } from './erased-keys.ts';
import { print, withStores } from './stores.ts';

export const keys: Command = {
  summary: 'moves all keys under the present DATA_KEY, or destroys again what a restored backup brought back',
  usage: 'rewrap | destroy-erased',
  options: {},
  takesArguments: true,
  async run(_, [action = '', ...more]) {
    if (more.length > 0 || (action !== 'rewrap' && action !== 'destroy-erased'))
      throw new UsageError('The action must be rewrap or destroy-erased');
    return await withStores('keys', async ({ eventStore, personalData }) => {
      const { store } = personalData;
      if (action === 'rewrap') {
        print(`${await store.rewrap()} blocks of keys were moved under the present DATA_KEY.`);
        return 0;
      }
      let count = 0;
      for await (const ids of readErasedKeys(eventStore)) {
        await store.destroy(ids);
        count += ids.length;
      }
      print(`${count} keys of erased personal data are destroyed.`);
      return 0;
    });
  },
};
