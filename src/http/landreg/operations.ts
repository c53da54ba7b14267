/** The operations of /landreg, and the callback that the land registry receives. */
import { literal, object, string } from 'superstruct';
import type { Sen } from '../../kernel/money.ts';
import { amount } from '../pay/answers.ts';
import {
  refusals,
  requeryAnswers,
  requeryExample,
  sharedOperations,
  startAnswers,
} from '../pay/operations.ts';
import { json, type Operation, type SecurityScheme } from '../server/openapi/operation.ts';
import { id, matching, time } from '../server/openapi/structs.ts';
import { paymentRequestBody } from './request-body.ts';

const tag = { name: 'Land registry', description: 'Payments that the land registry requests' };

const landregKey: SecurityScheme = {
  name: 'landregKey',
  definition: { type: 'http', scheme: 'bearer', description: 'The land registry’s access key' },
  sample: '<ACCESS_KEY>',
};

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

/** What this service itself presents to the land registry. */
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

const landregCheck = object({
  status: literal(true),
  message: string(),
  data: object({ service: string(), timestamp: time, environment: string() }),
});

/** What the land registry receives for each item. */
const landRegistryCallback = object({
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

/** By the names of the schemas. */
export function landregStructs(config: { maxAmountSen: Sen; production: boolean }) {
  return {
    LandregCheck: landregCheck,
    LandregPaymentRequest: paymentRequestBody(config),
    LandRegistryCallback: landRegistryCallback,
  };
}

const paymentExample = {
  kod_cawangan: '00',
  transaksi_id: 'HT-2026-0001',
  jumlah_bayaran: 120.5,
  return_url: 'https://land.example/payments/done',
  maklumat_bayaran: [
    { id_hakmilik: '080101GRN00001234', urusan: 'Cukai tanah 2026', jumlah_bayaran: 100.5 },
    { urusan: 'Carian persendirian', jumlah_bayaran: 20 },
  ],
  extra: { name: 'Aminah binti Ismail', email: 'aminah@agency.example', account_no: 'A-1' },
};

export const landregOperations: readonly Operation[] = [
  {
    id: 'landregCheck',
    method: 'get',
    path: '/landreg/check',
    tag,
    summary: 'Check the access key',
    security: [landregKey],
    answers: {
      200: {
        description: 'It is right',
        content: {
          [json]: {
            schema: 'LandregCheck',
            example: {
              status: true,
              message: 'Connection successful',
              data: {
                service: 'Land registry payments',
                timestamp: '2026-11-20T09:04:30+08:00',
                environment: 'development',
              },
            },
          },
        },
      },
      ...refusals(401, 500),
    },
  },
  {
    id: 'landregRequest',
    method: 'post',
    path: '/landreg/request',
    tag,
    summary: 'Start a payment',
    description:
      'One payment per `transaksi_id`: asking again for the same is answered the same; for something else with the same `transaksi_id`, 409. `jumlah_bayaran` is the sum of the items.',
    security: [landregKey],
    body: { types: [json], schema: 'LandregPaymentRequest', example: paymentExample },
    answers: startAnswers,
  },
  {
    id: 'landregRequery',
    method: 'get',
    path: '/landreg/requery/{transaksi_id}',
    tag,
    summary: 'Requery a payment',
    description: 'Asks the transaction registry, and records what it says.',
    security: [landregKey],
    parameters: [
      {
        in: 'path',
        name: 'transaksi_id',
        description: 'The land registry’s transaction id',
        schema: { type: 'string' },
        example: paymentExample.transaksi_id,
      },
    ],
    answers: requeryAnswers(404, 500, 502, 503, 504),
  },
  ...sharedOperations('landreg', tag, [landregKey, signedLink]),
];

/** What this service sends to the land registry's own address. */
export const landregWebhooks = {
  landRegistryItemPaid: {
    post: {
      operationId: 'landRegistryItemPaid',
      tags: [tag.name],
      security: [{ [accessToken.name]: [] }],
      summary: 'An item of a payment was paid',
      description:
        'Sent once per item of a payment that succeeded, until it is answered with 2xx and a `noresit`, and with a `statusCode` other than `FAILED`. A repeat of the same resitNo and fpxNo is to be refused.',
      requestBody: {
        required: true,
        content: {
          [json]: {
            schema: { $ref: '#/components/schemas/LandRegistryCallback' },
            example: {
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
            },
          },
        },
      },
      responses: {
        '2XX': {
          description:
            'Taken where there is a `noresit` and `statusCode` is not `FAILED`; else it is sent again',
          content: {
            [json]: {
              schema: {
                type: 'object',
                required: ['noresit'],
                properties: {
                  statusCode: { type: ['string', 'number'] },
                  noresit: { type: ['string', 'number'] },
                },
              },
              example: { statusCode: 'SUCCESS', noresit: 'R-20261120-1-01' },
            },
          },
        },
      },
    },
  },
};
