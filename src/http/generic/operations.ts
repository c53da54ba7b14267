/** The operations of /generic. */
import { literal, object, string } from 'superstruct';
import type { Sen } from '../../kernel/money.ts';
import { requeryExample } from '../pay/examples.ts';
import { callerOperations, pageRefusals, payerOperations } from '../pay/operations.ts';
import {
  bearer,
  form,
  json,
  multipart,
  type Parameter,
  pageAnswer,
  ref,
  type Section,
} from '../server/openapi/operation.ts';
import { time } from '../server/openapi/structs.ts';
import { paymentRequestBody } from './request-body.ts';

const merchantKey = bearer('merchantKey', 'One of the merchant’s API keys', '<API_KEY>');

const merchantCode: Parameter = {
  in: 'header',
  name: 'X-Merchant-Code',
  description: 'Instead of `merchant_code` in the body; where both are sent they must agree',
  schema: { type: 'string' },
  example: 'demo-app',
};

/** The interface documents bodies on GET, which most clients, browsers among them, cannot send. */
const bodyInstead = 'Code and key may be sent in a body instead, as `merchant_code` and `api_key`.';

const paymentExample = {
  trans_id: 'INV-2026-0001',
  amount: '120.50',
  service: 'Assessment tax',
  description: 'Second half of 2026',
  callback_url: 'https://agency.example/payments/callback',
  redirect_url: 'https://agency.example/payments/done',
  name: 'Aminah binti Ismail',
  email: 'aminah@agency.example',
};

/** By the names of the schemas. */
export function genericStructs(config: { maxAmountSen: Sen; production: boolean }) {
  const GenericCheck = object({
    status: literal(true),
    message: string(),
    data: object({ merchant_code: string(), timestamp: time, environment: string() }),
  });
  return { GenericCheck, GenericPaymentRequest: paymentRequestBody(config) };
}

const paymentChanged = {
  '{$request.body#/callback_url}': {
    post: {
      operationId: 'paymentChanged',
      security: [],
      summary: 'The status of the payment has changed',
      description:
        'Sent for every change of status, until it is answered with 2xx. Signed as in Standard Webhooks where the merchant has a secret. With `callback_events` or `partial_payments` also when a payment is reversed, refunded or partly paid, with the additional fields event, event_version, amount_refunded and reversed_datetime.',
      requestBody: {
        required: true,
        content: { [json]: { schema: ref('PaymentFields'), example: requeryExample.data } },
      },
      responses: {
        '2XX': { description: 'Delivered' },
        410: { description: 'No longer wanted: there are no more attempts' },
      },
    },
  },
};

export const genericSection: Section = {
  tag: { name: 'Generic payments', description: 'Payments that merchants request' },
  operations: [
    ...callerOperations({
      channel: 'generic',
      security: [merchantKey],
      headers: [merchantCode],
      bodyStatuses: [400, 413, 415],
      check: {
        summary: 'Check credentials',
        description: bodyInstead,
        schema: 'GenericCheck',
        data: { merchant_code: 'demo-app' },
      },
      request: {
        description:
          'One payment per `trans_id`: a repeated request gets the same answer, and one with the same `trans_id` but other content gets 409. Key and code may be in the body too, as `api_key` and `merchant_code`.',
        schema: 'GenericPaymentRequest',
        example: paymentExample,
        callbacks: { paymentChanged },
      },
      requery: {
        description: `Asks the transaction registry, and records what it says. ${bodyInstead}`,
        reference: { description: 'The merchant’s own `trans_id`', example: paymentExample.trans_id },
      },
    }),
    ...payerOperations('generic', []),
  ],
};

/** Served only in the sandbox. */
export const testPages: Section = {
  tag: { name: 'Test pages', description: 'For trying things out in a browser; not in production' },
  operations: [
    {
      id: 'genericDebug',
      route: 'GET /generic/debug',
      summary: 'Stand in for the gateway',
      parameters: [
        {
          in: 'query',
          name: 'TRANS_ID',
          description: 'The payment to make a result for; the query may also set other fields of the result',
          schema: { type: 'string' },
        },
      ],
      answers: { 200: pageAnswer('A form that posts a result'), ...pageRefusals(500, 503) },
    },
    {
      id: 'genericSimulate',
      route: 'GET /generic/simulate',
      summary: 'Build a payment request',
      answers: { 200: pageAnswer('A form that makes a request'), ...pageRefusals(500) },
    },
    {
      id: 'genericTryRequest',
      route: 'POST /generic/simulate',
      summary: 'Make the payment request of the form',
      body: {
        types: [form, multipart],
        schema: { type: 'object', additionalProperties: { type: 'string' } },
        example: { ...paymentExample, merchant_code: 'demo-app', api_key: 'demo-key' },
      },
      answers: {
        200: pageAnswer('The request and its answer, or the payment page'),
        ...pageRefusals(400, 413, 415, 500, 503),
      },
    },
  ],
};
