/** The operations of /generic. */
import { literal, object, string } from 'superstruct';
import type { Sen } from '../../kernel/money.ts';
import {
  pageRefusals,
  refusals,
  requeryAnswers,
  requeryExample,
  sharedOperations,
  startAnswers,
} from '../pay/operations.ts';
import {
  form,
  json,
  multipart,
  type Operation,
  type Parameter,
  page,
  type SecurityScheme,
} from '../server/openapi/operation.ts';
import { time } from '../server/openapi/structs.ts';
import { paymentRequestBody } from './request-body.ts';

const tag = { name: 'Generic payments', description: 'Payments that merchants request' };
const testPages = {
  name: 'Test pages',
  description: 'For trying things out in a browser; not in production',
};

const merchantKey: SecurityScheme = {
  name: 'merchantKey',
  definition: { type: 'http', scheme: 'bearer', description: 'One of the merchant’s API keys' },
  sample: '<API_KEY>',
};

const genericCheck = object({
  status: literal(true),
  message: string(),
  data: object({ merchant_code: string(), timestamp: time, environment: string() }),
});

/** By the names of the schemas. */
export function genericStructs(config: { maxAmountSen: Sen; production: boolean }) {
  return { GenericCheck: genericCheck, GenericPaymentRequest: paymentRequestBody(config) };
}

const merchantCode: Parameter = {
  in: 'header',
  name: 'X-Merchant-Code',
  description: 'Instead of `merchant_code` in the body; where both are sent they must agree',
  schema: { type: 'string' },
  example: 'demo-app',
};

/** Bodies on GET are documented by the interface; most clients, browsers among them, cannot send one. */
const bodyInstead = 'Code and key may be sent in a body instead, as `merchant_code` and `api_key`.';

export const paymentExample = {
  trans_id: 'INV-2026-0001',
  amount: '120.50',
  service: 'Assessment tax',
  description: 'Second half of 2026',
  callback_url: 'https://agency.example/payments/callback',
  redirect_url: 'https://agency.example/payments/done',
  name: 'Aminah binti Ismail',
  email: 'aminah@agency.example',
};

export const genericOperations: readonly Operation[] = [
  {
    id: 'genericCheck',
    method: 'get',
    path: '/generic/check',
    tag,
    summary: 'Check credentials',
    description: bodyInstead,
    security: [merchantKey],
    parameters: [merchantCode],
    answers: {
      200: {
        description: 'They are right',
        content: {
          [json]: {
            schema: 'GenericCheck',
            example: {
              status: true,
              message: 'Connection successful',
              data: {
                merchant_code: 'demo-app',
                timestamp: '2026-11-20T09:04:30+08:00',
                environment: 'development',
              },
            },
          },
        },
      },
      ...refusals(400, 401, 413, 415, 500),
    },
  },
  {
    id: 'genericRequest',
    method: 'post',
    path: '/generic/request',
    tag,
    summary: 'Start a payment',
    description:
      'One payment per `trans_id`: asking again for the same is answered the same; for something else with the same `trans_id`, 409. Key and code may be in the body too, as `api_key` and `merchant_code`.',
    security: [merchantKey],
    parameters: [merchantCode],
    body: { types: [json], schema: 'GenericPaymentRequest', example: paymentExample },
    answers: startAnswers,
    callbacks: {
      paymentChanged: {
        '{$request.body#/callback_url}': {
          post: {
            operationId: 'paymentChanged',
            security: [],
            summary: 'The payment has another status',
            description:
              'Sent for every change of status, until it is answered with 2xx. Signed as in Standard Webhooks where the merchant has a secret.',
            requestBody: {
              required: true,
              content: {
                [json]: {
                  schema: { $ref: '#/components/schemas/PaymentFields' },
                  example: requeryExample.data,
                },
              },
            },
            responses: {
              '2XX': { description: 'Taken' },
              410: { description: 'Not wanted any more: the last try' },
            },
          },
        },
      },
    },
  },
  {
    id: 'genericRequery',
    method: 'get',
    path: '/generic/requery/{transaksi_id}',
    tag,
    summary: 'Requery a payment',
    description: `Asks the transaction registry, and records what it says. ${bodyInstead}`,
    security: [merchantKey],
    parameters: [
      {
        in: 'path',
        name: 'transaksi_id',
        description: 'The merchant’s own `trans_id`',
        schema: { type: 'string' },
        example: paymentExample.trans_id,
      },
      merchantCode,
    ],
    answers: requeryAnswers(400, 404, 413, 415, 500, 502, 503, 504),
  },
  ...sharedOperations('generic', tag, []),
];

/** Where the sandbox is on. */
export const testPageOperations: readonly Operation[] = [
  {
    id: 'genericDebug',
    method: 'get',
    path: '/generic/debug',
    tag: testPages,
    summary: 'Stand in for the gateway',
    security: [],
    parameters: [
      {
        in: 'query',
        name: 'TRANS_ID',
        description: 'The payment that a result is made for; other fields of a result may be given likewise',
        schema: { type: 'string' },
      },
    ],
    answers: { 200: page('A form that posts a result'), ...pageRefusals(500, 503) },
  },
  {
    id: 'genericSimulate',
    method: 'get',
    path: '/generic/simulate',
    tag: testPages,
    summary: 'Build a payment request',
    security: [],
    answers: { 200: page('A form that makes a request'), ...pageRefusals(500) },
  },
  {
    id: 'genericTryRequest',
    method: 'post',
    path: '/generic/simulate',
    tag: testPages,
    summary: 'Make the payment request of the form',
    security: [],
    body: {
      types: [form, multipart],
      schema: { type: 'object', additionalProperties: { type: 'string' } },
      example: { ...paymentExample, merchant_code: 'demo-app', api_key: 'demo-key' },
    },
    answers: {
      200: page('The request and its answer, or the payment page'),
      ...pageRefusals(400, 413, 415, 500, 503),
    },
  },
];
