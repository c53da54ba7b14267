/** The credentials that a merchant has changed by itself, in a stream of each merchant. Decisions: src/commands/credentials.ts. */
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { type Sealed, sealed } from '@ledger/personal-data/sealed.ts';
import { array, enums, object, optional, string } from 'superstruct';
import { type Fold, readerOf } from './codec.ts';

export const credentialKinds = ['api-key', 'webhook-secret'] as const;
export type CredentialKind = (typeof credentialKinds)[number];

/** Fingerprints are keyed: they name a credential, and nobody can test a guess against one. */
export const merchantEvents = {
  CredentialIssued: object({
    at: utc,
    kind: enums(credentialKinds),
    fingerprint: string(),
    /** A webhook secret, which signs callbacks. Of an API key only the fingerprint is kept. */
    secret: optional(sealed(object({ text: string() }))),
    /** Fingerprints of those that were valid until then, and when they end. */
    others: array(string()),
    othersEndAt: utc,
  }),
  /** The credentials of this kind that had an end set end now. */
  OverlapEnded: object({ at: utc, kind: enums(credentialKinds) }),
};

export type MerchantEvent = EventOf<typeof merchantEvents>;

export type Credential = {
  kind: CredentialKind;
  fingerprint: string;
  /** Null: it is in the configuration. */
  issuedAt: string | null;
  /** Null: no end is set. */
  endsAt: string | null;
  secret: Sealed<{ text: string }> | null;
};

export const merchantFold: Fold<readonly Credential[], MerchantEvent> = {
  prefix: 'merchant-',
  initial: [],
  read: readerOf(merchantEvents),
  /** A credential of the configuration is in the state once its end is set. */
  evolve(state, event) {
    const { at, kind } = event.data;
    if (event.type === 'OverlapEnded')
      return state.map((each) => (each.kind === kind && each.endsAt ? ending(each, at) : each));
    const { fingerprint, others, othersEndAt, secret = null } = event.data;
    const none = { kind, issuedAt: null, endsAt: null, secret: null };
    const configured = others
      .filter((name) => !state.some((each) => each.fingerprint === name))
      .map((name) => ({ ...none, fingerprint: name }));
    const before = [...state, ...configured].map((each) =>
      others.includes(each.fingerprint) ? ending(each, othersEndAt) : each,
    );
    return [...before, { ...none, fingerprint, issuedAt: at, secret }];
  },
};
export const merchantStream = (code: string) => `${merchantFold.prefix}${code}`;

/** An end that is set is never put off. */
function ending(credential: Credential, at: string): Credential {
  return { ...credential, endsAt: credential.endsAt && credential.endsAt < at ? credential.endsAt : at };
}
