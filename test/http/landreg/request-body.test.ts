// Any body is read or refused by field: nothing else is thrown, and no message contains a value.
import test from 'ava';
import fc from 'fast-check';
import { InvalidFields, readFields } from '../../../src/commands/fields.ts';
import { agencyPageOf } from '../../../src/config/agency-page.ts';
import { checkRequest, paymentRequestBody } from '../../../src/http/landreg/request.ts';
import { HttpProblem } from '../../../src/http/server/context.ts';
import { sen } from '../../support/payments.ts';
import { requestBody } from './helpers.ts';

const agency = {
  code: 'office',
  name: 'Office',
  id: 1,
  apiKeys: [],
  branchCode: '00',
  webhookSecrets: [],
  callbackFormat: 'json',
  toldOf: [],
  takesParts: false,
  redirectHosts: ['land.example'],
  charges: {},
  page: agencyPageOf({}),
} as const;
const struct = paymentRequestBody({ maxAmountSen: sen(100_000_000), production: true });

function read(sent: unknown) {
  const body = readFields(sent, struct);
  checkRequest(body, [agency]);
  return body;
}

const secret = 'VALUE-THAT-IS-NOT-REPEATED';
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 8 }),
  fc.constant([secret]),
  fc.constant({ [secret]: secret }),
);
const item = fc.oneof(
  anything,
  fc.record({ urusan: anything, jumlah_bayaran: anything, id_hakmilik: anything }, { requiredKeys: [] }),
);
const body = fc.record(
  {
    kod_cawangan: fc.oneof(anything, fc.constant('00')),
    transaksi_id: anything,
    jumlah_bayaran: anything,
    return_url: anything,
    maklumat_bayaran: fc.oneof(anything, fc.array(item, { maxLength: 30 })),
    extra: fc.oneof(anything, fc.record({ email: anything, name: anything }, { requiredKeys: [] })),
  },
  { requiredKeys: [] },
);

test('any body is read or refused', (t) => {
  fc.assert(
    fc.property(fc.oneof(anything, body), (sent) => {
      try {
        read(sent);
      } catch (error) {
        if (
          !(error instanceof InvalidFields || (error instanceof HttpProblem && error.answer.status === 400))
        )
          throw error;
        if (error.message.includes(secret) || error.message.includes('Expected'))
          throw new Error(error.message);
      }
    }),
    { numRuns: 3_000 },
  );
  t.pass();
});

test('the body that was sent stays unchanged, and undocumented fields are left out', (t) => {
  const sent = requestBody({ surprise: 1, extra: { name: null, list: [1] } });
  const before = structuredClone(sent);
  const got = read(sent);
  t.deepEqual(sent, before);
  t.false('surprise' in got);
});

test('in production return_url must be https', (t) => {
  const { message } = t.throws(() => read(requestBody({ return_url: 'http://land.example/' }))) ?? {};
  t.is(message, 'return_url must be an https URL');
});

test('return_url must name one of the agency’s hosts', (t) => {
  const { message } = t.throws(() => read(requestBody({ return_url: 'https://elsewhere.example/' }))) ?? {};
  t.is(message, 'return_url names a host that is not registered for this merchant');
});
