/** The Ed25519 key that seals are signed with, and the check of a signature. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { orElse } from '@ledger/kernel/or-else.ts';

export type SealKey = ReturnType<typeof sealKeyOf>;

/** A public key as seals name it, and the sizes of the checkpoints that it may sign, both inclusive. */
export type KeyTerm = { publicKey: string; from: number; to: number };

export const forAll = (publicKey: string): KeyTerm => ({ publicKey, from: 0, to: Infinity });

/** PKCS#8 of an Ed25519 key is this prefix and the seed (RFC 8410). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** `seed`: 32 bytes as 64 hexadecimal digits. */
export function sealKeyOf(seed: string) {
  const der = Buffer.concat([pkcs8Head, Buffer.from(seed, 'hex')]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  return {
    /** SPKI in base64, as seals name it. */
    publicKey: spkiOf(publicKey),
    /** In base64. */
    sign: (text: string) => sign(null, Buffer.from(text), privateKey).toString('base64'),
  };
}

const pemBlock =
  /(?:^For checkpoints of (\d+)(?: to (\d+)| or more) events\s+)?(-----BEGIN PUBLIC KEY-----[\s\S]+?-----END PUBLIC KEY-----)/gm;

/**
 * The Ed25519 keys in a PEM file, each for all checkpoints unless the line before it names a term, as `termText` does.
 * Throws Error when there are none, or others, or a term that belongs to no key.
 */
export function publicKeysIn(pem: string): KeyTerm[] {
  const keys = Array.from(pem.matchAll(pemBlock), ([, from = '0', to, block = '']) => {
    const key = createPublicKey(block);
    if (key.asymmetricKeyType !== 'ed25519') throw new Error(mustBe);
    return { publicKey: spkiOf(key), from: Number(from), to: to === undefined ? Infinity : Number(to) };
  });
  if (keys.length === 0) throw new Error(mustBe);
  // Without its term, a key would count for all checkpoints.
  if (/for checkpoints/i.test(pem.replace(pemBlock, ''))) throw new Error('A term must stand before its key');
  return keys;
}

const mustBe = 'The file must hold Ed25519 public keys in PEM, and no others';

/** A key and its term, for a file that publicKeysIn reads. */
export function termText({ publicKey, from, to }: KeyTerm): string {
  const pem = `-----BEGIN PUBLIC KEY-----\n${publicKey}\n-----END PUBLIC KEY-----`;
  if (from === 0 && to === Infinity) return pem;
  return `For checkpoints of ${from}${to === Infinity ? ' or more' : ` to ${to}`} events\n${pem}`;
}

/** Whether the key that something names has signed this text. Whose key that is must be checked separately. */
export function isSigned(
  { publicKey, signature }: { publicKey: string; signature: string },
  text: string,
): boolean {
  return orElse(() => {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
    const isEd25519 = key.asymmetricKeyType === 'ed25519';
    return isEd25519 && verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'));
  }, false);
}

function spkiOf(key: KeyObject): string {
  return key.export({ format: 'der', type: 'spki' }).toString('base64');
}
