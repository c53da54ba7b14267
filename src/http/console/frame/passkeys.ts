/** Passkeys: what a browser is asked for, and whether its answer is right. Decision 36 has the reasons. */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { Refused } from '../../../commands/decider.ts';
import { createExecute } from '../../../commands/execute.ts';
import { name, readFields } from '../../../commands/fields.ts';
import { createExecutePasskeyUse, passkeyDecider } from '../../../commands/passkeys.ts';
import type { Cause } from '../../../events/envelope.ts';
import { passkeyUseStream } from '../../../events/passkeys.ts';
import { userStream } from '../../../events/user.ts';
import { EventStoreUnavailable } from '../../../eventstore/event-store.ts';
import { createExpiringSignatures } from '../../../kernel/expiring-signature.ts';
import { reasonOf } from '../../../kernel/reason-of.ts';
import { maskable } from '../../../kernel/structs.ts';
import type { ConsoleDependencies } from '../dependencies.ts';
import type { Holder } from './session.ts';

/** Loaded when it is first needed: its packages take 0.2 s. */
const library = () => import('@simplewebauthn/server');

/** EdDSA, ES256 and RS256: named, because the library's default depends on the version of Node.js. */
const supportedAlgorithmIDs = [-8, -7, -257];
const transports = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];
const timeout = 5 * 60_000;

/** An answer of a browser, as the form has it; `sessionId` is the session that the question was for. */
export type Answer = { sessionId: string; holder: Holder; cause: Cause; response: string | undefined };

export function createPasskeys(
  dependencies: Pick<ConsoleDependencies, 'config' | 'eventStore' | 'log' | 'runtime'>,
) {
  const { config, eventStore, log, runtime } = dependencies;
  const { hostname: rpID, origin } = new URL(config.baseUrl);
  const signatures = createExpiringSignatures(config.transactionIdKey, 'console passkey');
  const execute = createExecute({ eventStore, decider: passkeyDecider });
  const executeUse = createExecutePasskeyUse(eventStore);
  const now = () => runtime.now().toISOString();

  /** Signed instead of stored. It serves once, because what it opens or registers does so once. */
  function challengeFor(sessionId: string): string {
    const nonce = runtime.randomBytes(16).toString('base64url');
    const expiresAtMs = runtime.now().getTime() + timeout;
    return `${nonce}.${signatures.sign(`${sessionId}.${nonce}`, expiresAtMs)}`;
  }

  /** What the library is to expect of an answer. */
  const expected = (sessionId: string) => ({
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: true,
    expectedChallenge(encoded: string): boolean {
      const challenge = Buffer.from(encoded, 'base64url').toString();
      const [nonce = '', signature = ''] = [challenge.slice(0, 22), challenge.slice(23)];
      return signatures.check(signature, `${sessionId}.${nonce}`, runtime.now()) === 'valid';
    },
  });

  /** Whatever is wrong with an answer is refused in the same words; the log says what it was. */
  async function accept<Response, Result>(
    { response, holder }: Answer,
    check: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await check(JSON.parse(response ?? '') as Response);
    } catch (error) {
      if (error instanceof EventStoreUnavailable) throw error;
      log.warn({ staff: holder.account.id, reason: reasonOf(error) }, 'a passkey was refused');
      throw new Refused('passkey_refused', 'The passkey was not accepted. Open the page again and retry');
    }
  }

  return {
    /** What the holder must do with a passkey before a session opens. */
    demandOn: ({ account, passkeys }: Holder): 'use' | 'register' | 'nothing' => {
      if (passkeys.length > 0) return 'use';
      return config.passkeysRequired && account.role === 'admin' ? 'register' : 'nothing';
    },

    /** The options of `navigator.credentials.get`. */
    async askForUse(sessionId: string, { passkeys }: Holder) {
      const { generateAuthenticationOptions } = await library();
      return await generateAuthenticationOptions({
        rpID,
        allowCredentials: passkeys.map(({ id, transports }) => ({ id, transports })),
        challenge: challengeFor(sessionId),
        timeout,
        userVerification: 'required',
      });
    },

    /** The options of `navigator.credentials.create`. */
    async askForNew(sessionId: string, { account, passkeys }: Holder) {
      const { generateRegistrationOptions } = await library();
      return await generateRegistrationOptions({
        rpName: 'Payment ledger',
        rpID,
        userID: Buffer.from(account.id),
        userName: account.email,
        userDisplayName: account.name,
        challenge: challengeFor(sessionId),
        timeout,
        excludeCredentials: passkeys.map(({ id, transports }) => ({ id, transports })),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
        supportedAlgorithmIDs,
      });
    },

    /** Records the use of a passkey; resolves to its id. Throws Refused and EventStoreUnavailable. */
    use: (answer: Answer): Promise<string> =>
      accept(answer, async (response: AuthenticationResponseJSON) => {
        const { cause, holder, sessionId } = answer;
        const passkey = holder.passkeys.find(({ id }) => id === response.id);
        if (!passkey) throw new Error('the user has no such passkey');
        const { id, counter: registeredCounter } = passkey;
        const publicKey = Buffer.from(passkey.publicKey, 'base64url');
        const { verifyAuthenticationResponse } = await library();
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          ...expected(sessionId),
          response,
          // The decision to record the use compares the counter, so that of two uses at once only one is accepted.
          credential: { id, publicKey, counter: 0 },
        });
        if (!verified) throw new Error('the signature is wrong');
        const { newCounter: counter } = authenticationInfo;
        const userId = holder.account.id;
        const use = { at: now(), userId, sessionId, counter, registeredCounter };
        await executeUse(passkeyUseStream(userId, id), use, cause);
        return id;
      }),

    /** Registers a passkey of the holder; resolves to its id. Throws InvalidFields, Refused and EventStoreUnavailable. */
    async register(answer: Answer, called: string | undefined): Promise<string> {
      const fields = readFields({ name: called }, maskable({ name }));
      const passkey = await accept(answer, async (response: RegistrationResponseJSON) => {
        await assertNoCertificate(response);
        const { verifyRegistrationResponse } = await library();
        const found = await verifyRegistrationResponse({
          ...expected(answer.sessionId),
          response,
          supportedAlgorithmIDs,
        });
        if (!found.verified) throw new Error('the attestation is wrong');
        const { id, publicKey, counter } = found.registrationInfo.credential;
        const said = response.response.transports ?? [];
        return {
          id,
          publicKey: Buffer.from(publicKey).toString('base64url'),
          counter,
          transports: transports.filter((each) => said.some((it) => it === each)),
          ...fields,
        };
      });
      const { account } = answer.holder;
      await execute(userStream(account.id), { type: 'RegisterPasskey', at: now(), passkey }, answer.cause);
      return passkey.id;
    },

    /** For commands that remove passkeys. */
    execute,
  };
}

/**
 * No attestation is asked for. The library would follow the addresses of revocation lists in the certificates of one that is
 * sent nevertheless.
 */
async function assertNoCertificate({ response }: RegistrationResponseJSON): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(Buffer.from(response.attestationObject, 'base64url'));
  const isSelf = attestation.get('fmt') === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  if (attestation.get('fmt') !== 'none' && !isSelf) throw new Error('it has a certificate');
}
