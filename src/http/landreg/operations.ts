/** The operations of /landreg, and the callback that the land registry receives. */
import { literal, object, string } from 'superstruct';
import type { Sen } from '../../kernel/money.ts';
import { amount } from '../pay/answers.ts';
import { requeryExample } from '../pay/examples.ts';
import { callerOperations, payerOperations } from '../pay/operations.ts';
import {
  bearer,
  json,
  jsonAnswer,
  ref,
  type Section,
  type SecurityScheme,
} from '../server/openapi/operation.ts';
import { id, matching, time } from '../server/openapi/structs.ts';
import { paymentRequestBody } from './request-body.ts';

const landregKey = bearer('landregKey', 'The land registry’s access key', '<ACCESS_KEY>');

const signedLink: SecurityScheme = {
  name: 'signedLink',
  definition: {
    type: 'apiKey',
    in: 'query',
    name: 'sig',
    description: 'The signature of a link that this service made for a payer',
  },
  sample: '<SIGNATURE>',
};

export const accessToken: SecurityScheme = {
  name: 'accessToken',
  definition: {
    type: 'apiKey',
    in: 'header',
    name: 'Access-Token',
    description: 'What this service presents to the land registry',
  },
  sample: '<ACCESS_TOKEN>',
};

/** By the names of the schemas. */
export function landregStructs(config: { maxAmountSen: Sen; production: boolean }) {
  const LandregCheck = object({
    status: literal(true),
    message: string(),
    data: object({ service: string(), timestamp: time, environment: string() }),
  });
  const LandRegistryCallback = object({
    accountNo: string(),
    idHakmilik: string(),
    kodCaw: string(),
    resitNo: string(),
    amaun: amount,
    paymentDateTime: matching(/^\d{14}$/),
    paymentType: string(),
    fpxNo: string(),
    transId: id,
    dimasuk: string(),
  });
  return { LandregCheck, LandregPaymentRequest: paymentRequestBody(config), LandRegistryCallback };
}

export const landregSection: Section = {
  tag: { name: 'Land registry', description: 'Payments that the land registry requests' },
  operations: [
    ...callerOperations({
      channel: 'landreg',
      security: [landregKey],
      headers: [],
      bodyStatuses: [],
      check: {
        summary: 'Check the access key',
        schema: 'LandregCheck',
        data: { service: 'Land registry payments' },
      },
      request: {
        description:
          'One payment per `transaksi_id`: a repeated request gets the same answer, and one with the same `transaksi_id` but other content gets 409. `jumlah_bayaran` is the sum of the items.',
        schema: 'LandregPaymentRequest',
        example: {
          kod_cawangan: '00',
          transaksi_id: 'HT-2026-0001',
          jumlah_bayaran: 120.5,
          return_url: 'https://land.example/payments/done',
          maklumat_bayaran: [
            { id_hakmilik: '080101GRN00001234', urusan: 'Cukai tanah 2026', jumlah_bayaran: 100.5 },
            { urusan: 'Carian persendirian', jumlah_bayaran: 20 },
          ],
          extra: { name: 'Aminah binti Ismail', email: 'aminah@agency.example', account_no: 'A-1' },
        },
      },
      requery: {
        description: 'Asks the transaction registry, and records what it says.',
        reference: { description: 'The land registry’s transaction id', example: 'HT-2026-0001' },
      },
    }),
    ...payerOperations('landreg', [landregKey, signedLink]),
  ],
};

const callbackExample = {
  accountNo: 'A-1',
  idHakmilik: '080101GRN00001234',
  kodCaw: '00',
  resitNo: 'R-20261120-1-01',
  amaun: '100.50',
  paymentDateTime: '20261120090430',
  paymentType: 'CABAMPAY',
  fpxNo: requeryExample.data.fpx_transaction_no,
  transId: requeryExample.data.transaction_id,
  dimasuk: 'EPAYMENT',
};

const callbackReply = {
  type: 'object',
  required: ['noresit'],
  properties: {
    statusCode: { type: ['string', 'number'] },
    noresit: { type: ['string', 'number'] },
  },
};

/** What this service sends to the land registry's own address. */
export const landregWebhooks = {
  landRegistryItemPaid: {
    post: {
      operationId: 'landRegistryItemPaid',
      tags: [landregSection.tag.name],
      security: [{ [accessToken.name]: [] }],
      summary: 'An item of a payment was paid',
      description:
        'Sent once per item of a payment that succeeded, until it is answered with 2xx and a `noresit`, and with a `statusCode` other than `FAILED`. The receiver must refuse a repeat of the same resitNo and fpxNo.',
      requestBody: {
        required: true,
        content: { [json]: { schema: ref('LandRegistryCallback'), example: callbackExample } },
      },
      responses: {
        '2XX': jsonAnswer(
          'Delivered where there is a `noresit` and `statusCode` is not `FAILED`; otherwise it is sent again',
          callbackReply,
          { statusCode: 'SUCCESS', noresit: callbackExample.resitNo },
        ),
      },
    },
  },
};
