/** A merchant's API keys and webhook secrets: those of the configuration, and those that it issued itself. Decision 49. */
import { hash } from 'node:crypto';
import { type EventStore, EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { createFingerprint } from '@ledger/personal-data/fingerprint.ts';
import { type OpenSealed, openOrWait } from '@ledger/personal-data/sealed.ts';
import {
  type Credential,
  type CredentialKind,
  type MerchantEvent,
  merchantFold,
  merchantStream,
} from '../events/merchant.ts';
import { type Decider, Refused } from './decider.ts';
import { loadHead } from './execute.ts';

/** `by` is the fingerprint of the API key that asks, `configured` has those of the configuration. */
export type CredentialCommand = {
  at: string;
  kind: CredentialKind;
  by: string;
  configured: Readonly<Record<CredentialKind, readonly string[]>>;
} & (
  | {
      type: 'IssueCredential';
      fingerprint: string;
      /** The webhook secret; null for an API key. */
      secret: string | null;
      othersEndAt: string;
    }
  | { type: 'EndOverlap' }
);

/** A callback is signed with each secret, and a header has room for this many signatures. */
const maxValid = 5;

export const credentialDecider: Decider<readonly Credential[], CredentialCommand, MerchantEvent> = {
  ...merchantFold,
  decide(command, state) {
    const { at, by, configured, kind } = command;
    // A process may let a key in for some seconds after another has ended it. Such a key must not end the one after it.
    if (!validOf(state, { kind: 'api-key', configured, at }).includes(by))
      return new Refused('key_ended', 'Unauthorized - invalid API key for merchant');
    const ofKind = state.filter((each) => each.kind === kind);
    if (command.type === 'EndOverlap') {
      const newest = ofKind.findLast(({ issuedAt }) => issuedAt !== null);
      if (kind === 'api-key' && newest && newest.fingerprint !== by)
        return new Refused('not_newest_key', 'Ask with the newest key: this one would end');
      const withEnd = new Set(state.filter(({ endsAt }) => endsAt !== null).map((each) => each.fingerprint));
      if (validOf(state, { kind, configured, at }).filter((each) => !withEnd.has(each)).length > 1)
        return new Refused('not_newest_key', 'Others have no end: rotate, with overlap_hours 0, to end them');
      const isOverlap = ofKind.some(({ endsAt }) => endsAt !== null && endsAt > at);
      return isOverlap ? [{ type: 'OverlapEnded', data: { at, kind } }] : [];
    }
    const { fingerprint, othersEndAt, secret } = command;
    const others = validOf(state, { kind, configured, at });
    if (others.length >= maxValid && othersEndAt > at)
      return new Refused(
        'too_many_credentials',
        `${maxValid} are valid already: end those before the newest first`,
      );
    const held = secret === null ? {} : { secret: { plain: { text: secret } } };
    return [{ type: 'CredentialIssued', data: { at, kind, fingerprint, ...held, others, othersEndAt } }];
  },
};

/** The fingerprints of the credentials that are valid at a time, in the order in which they were made. */
function validOf(
  state: readonly Credential[],
  { kind, configured, at }: Pick<CredentialCommand, 'at' | 'configured' | 'kind'>,
): string[] {
  const over = state.filter(({ endsAt }) => endsAt !== null && endsAt <= at);
  const ended = new Set(over.map(({ fingerprint }) => fingerprint));
  const issued = state.filter((each) => each.kind === kind && each.issuedAt !== null);
  const all = [...configured[kind], ...issued.map(({ fingerprint }) => fingerprint)];
  return all.filter((fingerprint) => !ended.has(fingerprint));
}

/** How long a process uses what it has read of a merchant's stream. */
const servesMs = 5_000;
/** Longer than a read usually takes. A request waits no longer for a fresher state, but for the present one it does. */
const patienceMs = 500;

/** A merchant in the configuration. Keys are `sha256:<64 hex digits>` or plain. */
type Configured = { code: string; apiKeys: readonly string[]; webhookSecrets: readonly string[] };

export type Credentials = ReturnType<typeof createCredentials>;

type Dependencies = {
  eventStore: Pick<EventStore, 'load'>;
  openSealed: OpenSealed;
  runtime: Pick<Runtime, 'monotonicMs' | 'now' | 'sleep'>;
  transactionIdKey: string;
};

/**
 * The credentials of a merchant, as they were at most `atMostMs` ago. While the event store does not answer, what was known
 * before is used, unless that has to be what is true now (0): another process may have issued a key since.
 */
function createStates({ eventStore, runtime }: Dependencies) {
  const kept = new Map<string, { state: readonly Credential[]; readMs: number }>();
  const underWay = new Map<string, { state: Promise<readonly Credential[]>; readMs: number }>();

  function read(code: string, readMs: number): Promise<readonly Credential[]> {
    const state = loadHead(eventStore, merchantStream(code), credentialDecider).then((head) => head.state);
    const reading = { state, readMs };
    underWay.set(code, reading);
    const end = () => void (underWay.get(code) === reading && underWay.delete(code));
    state.then((found) => kept.set(code, { state: found, readMs })).then(end, end);
    return state;
  }

  return async (code: string, atMostMs: number): Promise<readonly Credential[]> => {
    const last = kept.get(code);
    const nowMs = runtime.monotonicMs();
    if (last && nowMs - last.readMs < atMostMs) return last.state;
    const begun = underWay.get(code);
    const reading = begun && nowMs - begun.readMs < atMostMs ? begun.state : read(code, nowMs);
    if (!last) return await reading;
    const lastKnown = (error: unknown) => {
      if (error instanceof EventStoreUnavailable && atMostMs > 0) return last.state;
      throw error;
    };
    const unanswered = atMostMs === 0 ? [] : [runtime.sleep(patienceMs).then(() => last.state)];
    return await Promise.race([reading.catch(lastKnown), ...unanswered]);
  };
}

export function createCredentials(dependencies: Dependencies) {
  const { openSealed, runtime, transactionIdKey } = dependencies;
  const fingerprint = createFingerprint(transactionIdKey);
  const stateOf = createStates(dependencies);
  const fingerprintOf = (kind: CredentialKind, text: string) => fingerprint([kind, hash('sha256', text)]);
  const ofConfigured = (key: string) =>
    key.startsWith('sha256:') ? fingerprint(['api-key', key.slice(7)]) : fingerprintOf('api-key', key);
  const ofMerchants = new WeakMap<Configured, Record<CredentialKind, readonly string[]>>();

  /** Made once for each merchant of the configuration: a request must not hash all keys again. */
  function configured(merchant: Configured): Record<CredentialKind, readonly string[]> {
    const made = ofMerchants.get(merchant) ?? {
      'api-key': merchant.apiKeys.map(ofConfigured),
      'webhook-secret': merchant.webhookSecrets.map((secret) => fingerprintOf('webhook-secret', secret)),
    };
    ofMerchants.set(merchant, made);
    return made;
  }

  async function valid(merchant: Configured, kind: CredentialKind, atMostMs: number) {
    const state = await stateOf(merchant.code, atMostMs);
    const at = runtime.now().toISOString();
    return { state, names: validOf(state, { kind, configured: configured(merchant), at }) };
  }

  return {
    configured,
    fingerprintOf,
    /**
     * Whether it is a key of the merchant, even if another process has issued it just now; null if it never was one that is
     * known, and may be a guess. Throws EventStoreUnavailable if that cannot be known.
     */
    async checkKey(merchant: Configured, key: string): Promise<'valid' | 'ended' | null> {
      // Compared by keyed digests: how long that takes says nothing about the key.
      const given = fingerprintOf('api-key', key);
      const known = async (atMostMs: number) => {
        const { state, names } = await valid(merchant, 'api-key', atMostMs);
        if (names.includes(given)) return 'valid';
        return state.some(({ fingerprint: name }) => name === given) ? 'ended' : null;
      };
      try {
        return (await known(servesMs)) ?? (await known(0));
      } catch (error) {
        // Nothing can be recorded without the event store: a key of the merchants file is let in, to read.
        if (error instanceof EventStoreUnavailable && configured(merchant)['api-key'].includes(given))
          return 'valid';
        throw error;
      }
    },
    /**
     * The secrets that callbacks are signed with; none if the merchant has none. Throws EventStoreUnavailable and
     * KeysUnavailable, and an Error if none of its secrets can be opened: a callback never goes out unsigned instead.
     */
    async webhookSecretsOf(merchant: Configured, atMostMs = servesMs): Promise<string[]> {
      const { state, names } = await valid(merchant, 'webhook-secret', atMostMs);
      const stream = merchantStream(merchant.code);
      const issued = state.map(async ({ fingerprint: name, secret }) =>
        secret && names.includes(name)
          ? ((await openOrWait(openSealed, secret, { stream, field: 'secret' }))?.text ?? [])
          : [],
      );
      const ofFile = configured(merchant)['webhook-secret'];
      const isValid = (_: string, at: number) => names.includes(ofFile[at] ?? '');
      const secrets = [...merchant.webhookSecrets.filter(isValid), ...(await Promise.all(issued)).flat()];
      if (secrets.length === 0 && names.length > 0)
        throw new Error(`The key of every webhook secret of merchant ${merchant.code} is lost`);
      return secrets;
    },
  };
}
