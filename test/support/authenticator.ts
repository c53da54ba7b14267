// A passkey in software: it answers as an authenticator and its browser would, or as an attacker who changes a part of that.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

type Options = { challenge: string };

/** What an attacker may say otherwise than an honest browser and authenticator. */
export type Lies = Partial<{
  id: string;
  origin: string;
  rpId: string;
  counter: number;
  /** Bits of the authenticator data: 1 present, 4 verified. */
  flags: number;
  type: string;
  challenge: string;
  attestation: Buffer;
  transports: unknown;
}>;

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();
const verified = 5;
const withCredential = 64;

/** CBOR of a text of less than 24 bytes. */
const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
const bytes = (value: Buffer) => {
  const head = value.length < 256 ? [0x58, value.length] : [0x59, value.length >> 8, value.length & 255];
  return Buffer.concat([Buffer.from(head), value]);
};
/** Of attestation `none`. */
const noAttestation = Buffer.concat([text('none'), text('attStmt'), Buffer.from([0xa0])]);
/** Of one in the format `packed` with a certificate, which names a list of revoked ones somewhere. */
export const certificate = Buffer.concat([
  text('packed'),
  text('attStmt'),
  Buffer.from([0xa1]),
  text('x5c'),
  Buffer.from([0x81]),
  bytes(Buffer.alloc(300, 1)),
]);

/** Of one in the format `packed` without a certificate, signed by another key than that of the passkey. */
export function forgedAttestation(): Buffer {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signature = sign('sha256', Buffer.from('anything'), privateKey);
  const algorithm = Buffer.concat([text('alg'), Buffer.from([0x26])]);
  const statement = [Buffer.from([0xa2]), algorithm, text('sig'), bytes(signature)];
  return Buffer.concat([text('packed'), text('attStmt'), ...statement]);
}

/** `idBytes` is the length of its id. */
export function createAuthenticator(baseUrl: string, idBytes = 32) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(idBytes);
  let counter = 0;

  const clientData = (type: string, { challenge }: Options, lies: Lies) =>
    Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? new URL(baseUrl).origin,
        crossOrigin: false,
      }),
    );
  const authenticatorData = (flags: number, lies: Lies) => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(lies.counter ?? counter);
    const rpIdHash = sha256(lies.rpId ?? new URL(baseUrl).hostname);
    return Buffer.concat([rpIdHash, Buffer.from([flags]), count]);
  };
  const answer = (lies: Lies, response: Record<string, unknown>) => {
    const named = lies.id ?? id.toString('base64url');
    const fields = Object.entries(response).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? value.toString('base64url') : value,
    ]);
    return JSON.stringify({
      id: named,
      rawId: named,
      type: 'public-key',
      clientExtensionResults: {},
      response: Object.fromEntries(fields),
    });
  };

  return {
    id: id.toString('base64url'),

    /** As `navigator.credentials.create`, in the JSON that the page sends. */
    create(options: Options, lies: Lies = {}): string {
      // COSE: an EC2 key for ES256 on P-256.
      const key = Buffer.concat([
        Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21]),
        bytes(Buffer.from(x, 'base64url')),
        Buffer.from([0x22]),
        bytes(Buffer.from(y, 'base64url')),
      ]);
      const credential = Buffer.concat([
        Buffer.alloc(16),
        Buffer.from([id.length >> 8, id.length & 255]),
        id,
        key,
      ]);
      const flags = (lies.flags ?? verified) + withCredential;
      const data = Buffer.concat([authenticatorData(flags, lies), credential]);
      const attestation = lies.attestation ?? noAttestation;
      return answer(lies, {
        clientDataJSON: clientData('webauthn.create', options, lies),
        attestationObject: Buffer.concat([
          Buffer.from([0xa3]),
          text('fmt'),
          attestation,
          text('authData'),
          bytes(data),
        ]),
        transports: lies.transports ?? ['internal'],
      });
    },

    /** As `navigator.credentials.get`. */
    get(options: Options, lies: Lies = {}): string {
      counter += 1;
      const client = clientData('webauthn.get', options, lies);
      const data = authenticatorData(lies.flags ?? verified, lies);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey);
      return answer(lies, { clientDataJSON: client, authenticatorData: data, signature });
    },
  };
}

export type Authenticator = ReturnType<typeof createAuthenticator>;

/** What a page asks a passkey for. */
export function demandOf(page: string): { get?: Options; create?: Options } {
  const [, asked = '{}'] = / data-passkey="([^"]+)"/.exec(page) ?? [];
  const { demand, ...options } = JSON.parse(
    asked.replaceAll('&quot;', '"').replaceAll('&amp;', '&').replaceAll('&#39;', "'"),
  );
  if (demand === undefined) return {};
  return demand === 'use' ? { get: options } : { create: options };
}
