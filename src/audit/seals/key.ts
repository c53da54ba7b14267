/** The Ed25519 key that seals are signed with, and what an auditor checks them by. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { type LogSealed, signedText } from '../../events/seals.ts';

export type SealKey = {
  /** SPKI in base64, as seals name it. */
  publicKey: string;
  /** The same as PEM, for an auditor to keep. */
  publicKeyPem: string;
  /** The signature of a text, in base64. */
  sign(text: string): string;
};

/** PKCS#8 of an Ed25519 key is this and the seed (RFC 8410). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** `seed`: 32 bytes as 64 hexadecimal digits, as SEAL_KEY has it. */
export function sealKeyOf(seed: string): SealKey {
  const der = Buffer.concat([pkcs8Head, Buffer.from(seed, 'hex')]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  return {
    publicKey: spkiOf(publicKey),
    publicKeyPem: pemOf(publicKey),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64'),
  };
}

/** The Ed25519 keys in a PEM file, of which there may be several, as seals name them. Throws Error when there is none. */
export function publicKeysIn(pem: string): string[] {
  const blocks = pem.match(/-----BEGIN PUBLIC KEY-----[\s\S]+?-----END PUBLIC KEY-----/g) ?? [];
  const keys = blocks.map((block) => createPublicKey(block));
  if (keys.length === 0 || keys.some(({ asymmetricKeyType }) => asymmetricKeyType !== 'ed25519'))
    throw new Error('There must be Ed25519 public keys in PEM in it, and no others');
  return keys.map(spkiOf);
}

/** Whether the key that the seal names has signed what it says. Whose key that is, is another question. */
export function isSigned(seal: LogSealed): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(seal.publicKey, 'base64'), format: 'der', type: 'spki' });
    const isEd25519 = key.asymmetricKeyType === 'ed25519';
    return (
      isEd25519 && verify(null, Buffer.from(signedText(seal)), key, Buffer.from(seal.signature, 'base64'))
    );
  } catch {
    return false;
  }
}

function spkiOf(key: KeyObject): string {
  return key.export({ format: 'der', type: 'spki' }).toString('base64');
}

function pemOf(key: KeyObject): string {
  return key.export({ format: 'pem', type: 'spki' }).toString();
}
