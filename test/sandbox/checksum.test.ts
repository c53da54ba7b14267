import test from 'ava';
import { checksumOf, hasRightChecksum, signedText } from '../../packages/sandbox/checksum.ts';
import { order, secret } from './helpers.ts';

test('names are sorted, only unreserved characters stay, CHECKSUM itself is left out', (t) => {
  const fields = { B: "a b&c=d!'()*", A: 'é-._~/', CHECKSUM: 'x', 'C=1': '' };
  t.is(signedText(fields), 'A=%C3%A9-._~%2F&B=a%20b%26c%3Dd%21%27%28%29%2A&C%3D1=');
});

test('the checksum is lower-case hex HMAC-SHA256', (t) => {
  // Computed with: printf 'A=1' | openssl dgst -sha256 -hmac key
  t.is(checksumOf({ A: '1' }, 'key'), 'cf030f6b4c7aaf95183cf5dc6cb423ecdbbf8856543513bb7d5f03e9b6cc2a11');
});

test('agrees with another reading of the rule, and with no other value or secret', (t) => {
  const fields = order({});
  t.true(hasRightChecksum(fields, secret));
  t.false(hasRightChecksum(fields, 'another secret'));
  t.false(hasRightChecksum({ ...fields, AMOUNT: '1.00' }, secret));
  t.false(hasRightChecksum({ ...fields, EXTRA: '' }, secret));
  t.false(hasRightChecksum({ ...fields, CHECKSUM: '' }, secret));
  t.false(hasRightChecksum({ ...fields, CHECKSUM: `${fields.CHECKSUM}0` }, secret));
});
