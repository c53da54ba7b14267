/** What merchants hold: the API keys and webhook secrets of the merchants file, and those that they have issued themselves. */
import { createHmac, hash } from 'node:crypto';
import { createFingerprint } from '@ledger/personal-data/fingerprint.ts';
import { type CredentialKind, merchantStream } from '../../../src/events/merchant.ts';
import type { LogCheck } from '../checks/log.ts';
import { apiKeyOf, removable, transactionIdKey, webhookSecretsOf } from '../program/configuration.ts';
import type { Report } from '../violations.ts';

export type Wallets = ReturnType<typeof createWallets>;
type Held = { value: string; sinceMs: number };

/** The program may use for so long what it has read of a merchant's credentials, or has read while a store was slow. */
const knownForMs = 60_000;

export function createWallets({
  log,
  nowMs,
  stretch,
  mayLackMerchant,
  report,
}: {
  log: LogCheck;
  nowMs: () => number;
  stretch: number;
  /** Whether some process may not know the merchant that is removed. */
  mayLackMerchant: () => boolean;
  report: Report;
}) {
  const fingerprint = createFingerprint(transactionIdKey);
  const held = new Map<string, Held[]>();
  const ofMerchant = (merchant: string, kind: CredentialKind): Held[] => {
    const name = `${merchant} ${kind}`;
    const inFile = kind === 'api-key' ? [apiKeyOf(merchant)] : webhookSecretsOf(merchant);
    const found = held.get(name) ?? inFile.map((value) => ({ value, sinceMs: 0 }));
    held.set(name, found);
    return found;
  };

  /** When it ends or has ended, as the log says; null if no end is set. An older log may not know it at all. */
  function endMs(merchant: string, kind: CredentialKind, { value, sinceMs }: Held): number | null {
    log.look();
    const name = fingerprint([kind, hash('sha256', value)]);
    const known = log.credentials.get(merchantStream(merchant))?.find((each) => each.fingerprint === name);
    if (!known) return sinceMs === 0 ? null : 0;
    return known.endsAt === null ? null : Date.parse(known.endsAt);
  }

  const isValid = (merchant: string, kind: CredentialKind, each: Held, atMs = nowMs()) =>
    (endMs(merchant, kind, each) ?? Number.POSITIVE_INFINITY) > atMs;

  return {
    add: (merchant: string, kind: CredentialKind, value: string) =>
      void ofMerchant(merchant, kind).push({ value, sinceMs: nowMs() }),

    /** The newest that is valid; null if there is none. */
    keyOf: (merchant: string): string | null =>
      ofMerchant(merchant, 'api-key').findLast((each) => isValid(merchant, 'api-key', each))?.value ?? null,

    /** To be called when the program has refused a key. */
    refused(merchant: string, key: string): void {
      const each = ofMerchant(merchant, 'api-key').find(({ value }) => value === key);
      if (merchant === removable && mayLackMerchant()) return;
      if (each && isValid(merchant, 'api-key', each))
        report('key-refused', merchant, 'A valid API key was answered 401');
    },

    /** The keys that nobody may use any more. */
    endedKeys: (merchant: string): string[] =>
      ofMerchant(merchant, 'api-key')
        .filter((each) => !isValid(merchant, 'api-key', each, nowMs() - knownForMs))
        .map(({ value }) => value),

    /** A receiver may have any secret that is valid: each has to sign. One that has ended may sign for a while. */
    checkSignature(
      merchant: string,
      { id, timestamp, signature }: { id: string; timestamp: string; signature: string },
      body: string,
    ): void {
      // Nobody knows its secrets then.
      if (merchant === removable && mayLackMerchant()) return;
      const secrets = ofMerchant(merchant, 'webhook-secret');
      const knownMs = knownForMs * stretch;
      const signed = signature.split(' ').filter((each) => each !== '');
      const signs = ({ value }: Held) =>
        signed.includes(
          `v1,${createHmac('sha256', Buffer.from(value.slice('whsec_'.length), 'base64'))
            .update(`${id}.${timestamp}.${body}`)
            .digest('base64')}`,
        );
      const isKnown = ({ sinceMs }: Held) => sinceMs < nowMs() - knownMs;
      for (const each of secrets) {
        if (isKnown(each) && isValid(merchant, 'webhook-secret', each, nowMs() + 1_000) && !signs(each))
          report('callback-unsigned', merchant, `${id} is not signed with a secret that is valid`);
        if (signs(each) && !isValid(merchant, 'webhook-secret', each, nowMs() - knownMs))
          report('callback-unsigned', merchant, `${id} is signed with a secret that has ended`);
      }
      // A process may not know the first secret of a merchant yet.
      if (signed.length === 0 && secrets.some(isKnown))
        report('callback-unsigned', merchant, `${id} is not signed`);
    },
  };
}
