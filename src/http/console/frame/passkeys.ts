/** Passkeys: what a browser is asked for, and whether its answer is right. Decision 36 has the reasons. */
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { createExpiringSignatures } from '@ledger/kernel/expiring-signature.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { maskable } from '@ledger/kernel/structs.ts';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { Refused } from '../../../commands/decider.ts';
import { createExecute } from '../../../commands/execute.ts';
import { InvalidFields, name, readFields } from '../../../commands/fields.ts';
import { passkeyDecider, passkeyUseDecider } from '../../../commands/passkeys.ts';
import type { Cause } from '../../../events/envelope.ts';
import { type Passkey, passkeyUseStream } from '../../../events/passkeys.ts';
import { userStream } from '../../../events/user.ts';
import type { Dependencies } from '../../server/dependencies.ts';
import type { Fields } from './forms-and-lists.ts';
import type { Holder } from './session.ts';

/** What a page asks for: that a passkey is used, or registered. */
type Demand = 'use' | 'register' | 'nothing';

/** The form that a page sends, and the session that its question was for, which is open or is to be opened. */
type Answer = { form: Fields; sessionId: string; isOpen: boolean; holder: Holder; cause: Cause };

/** EdDSA, ES256 and RS256: named, because the library's default depends on the version of Node.js. */
const algorithms = [-8, -7, -257];
const knownTransports = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];
const timeout = 5 * 60_000;
/** In base64url: an id of 1,023 bytes and a key of RSA take half of it. Both are in a stream that every request reads. */
const longestAttestation = 8_192;

export function createPasskeys(dependencies: Dependencies) {
  const { config, eventStore, log, runtime } = dependencies;
  const rpId = new URL(config.baseUrl).hostname;
  const challenges = createChallenges(dependencies);
  const execute = createExecute({ eventStore, decider: passkeyDecider });
  const loadLastUse = async (stream: string) =>
    [await eventStore.loadLast(stream)].filter((it) => it !== null);
  const executeUse = createExecute({ eventStore, decider: passkeyUseDecider, load: loadLastUse });

  async function use({ form, sessionId, holder, cause }: Answer): Promise<string> {
    const response = JSON.parse(form.response ?? '') as AuthenticationResponseJSON;
    const passkey = holder.passkeys.find(({ id }) => id === response.id);
    if (!passkey) throw new Error('the user has no such passkey');
    const counter = await checkUse(response, passkey, challenges.expected(sessionId));
    const at = runtime.now().toISOString();
    const used = { at, userId: holder.id, sessionId, counter, registeredCounter: passkey.counter };
    await executeUse(passkeyUseStream(holder.id, passkey.id), used, cause);
    return passkey.id;
  }

  async function register({ form, sessionId, isOpen, holder, cause }: Answer): Promise<string> {
    const response = JSON.parse(form.response ?? '') as RegistrationResponseJSON;
    const named = readFields({ name: form.name }, maskable({ name }));
    const passkey = { ...(await checkNew(response, challenges.expected(sessionId))), ...named, sessionId };
    const at = runtime.now().toISOString();
    await execute(userStream(holder.id), { type: 'RegisterPasskey', at, passkey, asFirst: !isOpen }, cause);
    return passkey.id;
  }

  return {
    /** For commands that remove passkeys. */
    execute,

    /** What the holder must do before a session opens. */
    demandOn({ passkeys, role }: Holder): Demand {
      if (passkeys.length > 0) return 'use';
      return config.passkeysRequired && role === 'admin' ? 'register' : 'nothing';
    },

    /** What views/console/sign-in/passkeys.js asks the browser with. */
    ask: (demand: Demand, sessionId: string, { id, name, email, passkeys }: Holder) => ({
      demand,
      challenge: challenges.create(sessionId),
      timeout,
      rpId,
      user: { id: Buffer.from(id).toString('base64url'), name: email, displayName: name },
      algorithms,
      held: passkeys.map(({ id, transports }) => ({ id, transports, type: 'public-key' })),
    }),

    /** The passkey's id; null if none was demanded. Throws InvalidFields (its name), Refused, EventStoreUnavailable. */
    async take(demand: Demand, answer: Answer): Promise<string | null> {
      if (demand === 'nothing') return null;
      try {
        return await (demand === 'use' ? use(answer) : register(answer));
      } catch (error) {
        if (error instanceof EventStoreUnavailable || error instanceof InvalidFields) throw error;
        log.warn({ staff: answer.holder.id, reason: reasonOf(error) }, 'a passkey was refused');
        if (error instanceof Refused) throw error;
        // Whatever was wrong: the log has the reason.
        throw new Refused('passkey_refused', 'The passkey was not accepted. Open the page again and retry');
      }
    },
  };
}

/** Challenges are signed and not stored. An answer serves once, because what it opens or registers does so once. */
function createChallenges({ config: { baseUrl, linkKeys }, runtime }: Dependencies) {
  const signatures = createExpiringSignatures(linkKeys, 'console passkey');
  const { hostname, origin } = new URL(baseUrl);
  return {
    create(sessionId: string): string {
      const nonce = runtime.randomBytes(16).toString('base64url');
      const signature = signatures.sign(`${sessionId}.${nonce}`, runtime.now().getTime() + timeout);
      return Buffer.from(`${nonce}.${signature}`).toString('base64url');
    },
    /** What the library is to expect of an answer. */
    expected: (sessionId: string) => ({
      expectedOrigin: origin,
      expectedRPID: hostname,
      requireUserVerification: true,
      expectedChallenge(challenge: string): boolean {
        const [, nonce = '', signature = ''] =
          /^([\w-]{22})\.(.+)$/.exec(Buffer.from(challenge, 'base64url').toString()) ?? [];
        return signatures.check(signature, `${sessionId}.${nonce}`, runtime.now()) === 'valid';
      },
    }),
  };
}

type Expected = ReturnType<ReturnType<typeof createChallenges>['expected']>;

/** Loaded when it is first needed: its packages take 0.2 s. */
const library = () => import('@simplewebauthn/server');

/** Resolves to the counter. The decision to record the use compares it, so that one of two uses at once is refused. */
async function checkUse(
  response: AuthenticationResponseJSON,
  { id, publicKey }: Passkey,
  expected: Expected,
) {
  const { verifyAuthenticationResponse } = await library();
  const credential = { id, publicKey: Buffer.from(publicKey, 'base64url'), counter: 0 };
  const found = await verifyAuthenticationResponse({ ...expected, response, credential });
  if (!found.verified) throw new Error('the signature is wrong');
  return found.authenticationInfo.newCounter;
}

async function checkNew(response: RegistrationResponseJSON, expected: Expected) {
  if (response.response.attestationObject.length > longestAttestation) throw new Error('it is too long');
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(Buffer.from(response.response.attestationObject, 'base64url'));
  const isSelf = attestation.get('fmt') === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  // The library would fetch the revocation lists that a certificate names, and the browser was asked for none.
  if (attestation.get('fmt') !== 'none' && !isSelf) throw new Error('it has a certificate');
  const { verifyRegistrationResponse } = await library();
  const found = await verifyRegistrationResponse({
    ...expected,
    response,
    supportedAlgorithmIDs: algorithms,
  });
  if (!found.verified) throw new Error('the attestation is wrong');
  const { id, publicKey, counter } = found.registrationInfo.credential;
  const said: readonly unknown[] = response.response.transports ?? [];
  const transports = knownTransports.filter((each) => said.includes(each));
  return { id, publicKey: Buffer.from(publicKey).toString('base64url'), counter, transports };
}
