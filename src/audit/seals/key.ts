/** The Ed25519 key that seals are signed with, and the check of a signature. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { signedText } from '../../events/seals.ts';

export type SealKey = ReturnType<typeof sealKeyOf>;

/** PKCS#8 of an Ed25519 key is this prefix and the seed (RFC 8410). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** `seed`: 32 bytes as 64 hexadecimal digits, as in SEAL_KEY. */
export function sealKeyOf(seed: string) {
  const der = Buffer.concat([pkcs8Head, Buffer.from(seed, 'hex')]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  return {
    /** SPKI in base64, as seals name it. */
    publicKey: spkiOf(publicKey),
    /** The same as PEM, for an auditor to keep. */
    publicKeyPem: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    /** In base64. */
    sign: (text: string) => sign(null, Buffer.from(text), privateKey).toString('base64'),
  };
}

/** The Ed25519 keys in a PEM file, as seals name them. Throws Error when there are none, or others. */
export function publicKeysIn(pem: string): string[] {
  const blocks = pem.match(/-----BEGIN PUBLIC KEY-----[\s\S]+?-----END PUBLIC KEY-----/g) ?? [];
  const keys = blocks.map((block) => createPublicKey(block));
  if (keys.length === 0 || keys.some(({ asymmetricKeyType }) => asymmetricKeyType !== 'ed25519'))
    throw new Error('The file must hold Ed25519 public keys in PEM, and no others');
  return keys.map(spkiOf);
}

/** Whether the key that something names has signed its content. Whose key that is must be checked separately. */
export function isSigned(signed: { publicKey: string; signature: string }): boolean {
  const { publicKey, signature } = signed;
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
    const text = Buffer.from(signedText(signed));
    return key.asymmetricKeyType === 'ed25519' && verify(null, text, key, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}

function spkiOf(key: KeyObject): string {
  return key.export({ format: 'der', type: 'spki' }).toString('base64');
}
