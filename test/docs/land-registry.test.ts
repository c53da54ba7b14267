// The land-registry page is correct: its example request is accepted, its branches are those of the merchants file.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { readFields } from '../../src/commands/fields.ts';
import { loadMerchants } from '../../src/config/merchants.ts';
import { checkRequest, paymentRequestBody } from '../../src/http/landreg/request.ts';
import { sen } from '../support/payments.ts';

const page = readFileSync(new URL('../../content/docs/land-registry.md', import.meta.url), 'utf8');
const merchants = loadMerchants(
  fileURLToPath(new URL('../../config/merchants.yaml', import.meta.url)),
  false,
);
const agencies = new Map(
  Array.from(merchants.values(), (merchant) => [merchant.branchCode, merchant] as const).filter(
    ([branchCode]) => branchCode !== '',
  ),
);

test('the branches are those of the merchants file, as documented', (t) => {
  const rows = Array.from(page.matchAll(/^\| `(\d\d)` \| `([\w-]+)` \|$/gm), ([, branch, code]) => [
    branch,
    code,
  ]);
  t.deepEqual(
    rows,
    Array.from(agencies, ([branch, { code }]) => [branch, code]),
  );
  t.deepEqual(rows, [
    ['00', 'ptgnm-app'],
    ['01', 'pdtmt-app'],
    ['02', 'pdtj-app'],
    ['03', 'pdtag-app'],
  ]);
});

test('the example request is accepted', (t) => {
  const body = /-d '(\{.*?\})'\n/s.exec(page)?.[1] ?? '';
  const struct = paymentRequestBody({ maxAmountSen: sen(100_000_000), production: false });
  const read = readFields(JSON.parse(body), struct);
  t.is(checkRequest(read, [...agencies.values()]).code, 'ptgnm-app');
});
