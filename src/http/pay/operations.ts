/** The operations that both payment channels have. */
import type { Channel } from '../../events/payment.ts';
import { paymentModes } from '../../kernel/payment-modes.ts';
import type { JsonSchema } from '../../kernel/with-json-schema.ts';
import {
  type Answers,
  errorAnswers,
  exampleId,
  form,
  json,
  jsonAnswer,
  multipart,
  type Operation,
  type Parameter,
  page,
  pageAnswer,
  redirect,
  ref,
  type SecurityScheme,
} from '../server/openapi/operation.ts';
import { paymentFields, paymentStarted, refusal, requeryAnswer, requeryRefusal } from './answers.ts';
import { refusalExamples, requeryExample, resultExample } from './examples.ts';

const transactionId: Parameter = {
  in: 'path',
  name: 'id',
  description: 'Transaction id of the service',
  schema: { type: 'string' },
  example: exampleId,
};

const language: Parameter = {
  in: 'query',
  name: 'lang',
  description: 'Language of the page; without it, the Accept-Language header decides',
  schema: { type: 'string', enum: ['en', 'ms'] },
};

/** For callers' own endpoints, whose refusals are always JSON. */
function refusals(...statuses: readonly number[]): Answers {
  return errorAnswers(statuses, (status) => ({
    [json]: { schema: ref('Refusal'), example: { status: false, message: refusalExamples[status] } },
  }));
}

/** For what browsers open: a page, or JSON for clients that ask for it. */
export function pageRefusals(...statuses: readonly number[]): Answers {
  return errorAnswers(statuses, (status) => ({
    ...page,
    [json]: { schema: ref('Refusal'), example: { status: false, message: refusalExamples[status] } },
  }));
}

type ChannelDescription = {
  channel: Channel;
  /** The credentials that callers' systems send. */
  security: readonly SecurityScheme[];
  /** Header parameters of callers' systems. */
  headers: readonly Parameter[];
  /** The refusals of check and requery that only a body can cause. */
  bodyStatuses: readonly number[];
  check: Pick<Operation, 'summary' | 'description'> & { schema: string; data: object };
  request: Pick<Operation, 'description' | 'callbacks'> & {
    schema: string;
    example: Readonly<Record<string, unknown>>;
  };
  requery: { description: string; reference: Pick<Parameter, 'description' | 'example'> };
};

/** The operations that callers' systems use. */
export function callerOperations(description: ChannelDescription): Operation[] {
  const { channel, security, headers, bodyStatuses } = description;
  const { schema: checkSchema, data, ...check } = description.check;
  const { schema: requestSchema, example, ...request } = description.request;
  const checkExample = {
    status: true,
    message: 'Connection successful',
    data: { ...data, timestamp: '2026-11-20T09:04:30+08:00', environment: 'development' },
  };
  const startedExample = {
    status: true,
    message: 'Send the payer to payment_url',
    data: {
      transaction_id: exampleId,
      payment_url: `https://payments.example/${channel}/pay/${exampleId}`,
      status: '3',
    },
  };
  return [
    {
      ...check,
      id: `${channel}Check`,
      route: `GET /${channel}/check`,
      security,
      parameters: headers,
      answers: {
        200: jsonAnswer('The credentials are right', ref(checkSchema), checkExample),
        ...refusals(...bodyStatuses, 401, 500),
      },
    },
    {
      ...request,
      id: `${channel}Request`,
      route: `POST /${channel}/request`,
      summary: 'Start a payment',
      security,
      parameters: headers,
      body: { types: [json], schema: ref(requestSchema), example },
      answers: {
        200: {
          description:
            'The payment page, to be shown to the payer. Where Accept names application/json, and neither text/html nor */*, the address of that page instead.',
          content: { ...page, [json]: { schema: ref('PaymentStarted'), example: startedExample } },
        },
        ...refusals(400, 401, 409, 413, 415, 500, 503),
      },
    },
    {
      id: `${channel}Requery`,
      route: `GET /${channel}/requery/{transaksi_id}`,
      summary: 'Requery a payment',
      description: description.requery.description,
      security,
      parameters: [
        { in: 'path', name: 'transaksi_id', schema: { type: 'string' }, ...description.requery.reference },
        ...headers,
      ],
      answers: {
        200: jsonAnswer(
          'The payment as it stands, and what the registry changed about it',
          ref('RequeryAnswer'),
          requeryExample,
        ),
        ...refusals(401),
        ...errorAnswers([...bodyStatuses, 404, 500, 502, 503, 504], (status) => ({
          [json]: {
            schema: ref('RequeryRefusal'),
            example: { success: false, message: refusalExamples[status] },
          },
        })),
      },
    },
  ];
}

/** The gateway's result and the payer's pages; `security` is what gives access to the pages. */
export function payerOperations(channel: Channel, security: readonly SecurityScheme[]): Operation[] {
  const pageStatuses = security.length > 0 ? [401, 404, 500, 503] : [404, 500, 503];
  const forPayer = { security, parameters: [transactionId, language] };
  const settled = redirect('It is paid or waits for the bank: on to the receipt');
  return [
    {
      id: `${channel}ReportResult`,
      route: `POST /${channel}/response`,
      summary: 'Report a result (gateway)',
      description:
        'Called by the gateway, in any of three encodings. Names in any case; unknown fields are stored. `CHECKSUM` is the lower-case hex HMAC-SHA256, under the gateway’s secret, of the other fields: sorted by name, each name and value percent-encoded, joined as `NAME=value` with `&`.',
      body: { types: [form, multipart, json], schema: ref('GatewayResult'), example: resultExample },
      answers: {
        303: redirect('Recorded; on to the receipt'),
        ...pageRefusals(400, 401, 404, 413, 415, 500, 503),
      },
    },
    {
      ...forPayer,
      id: `${channel}ShowPaymentPage`,
      route: `GET /${channel}/pay/{id}`,
      summary: 'Open the payment page (payer)',
      answers: { 200: pageAnswer('The payment page'), 303: settled, ...pageRefusals(...pageStatuses) },
    },
    {
      ...forPayer,
      id: `${channel}ChooseMethod`,
      route: `POST /${channel}/pay/{id}`,
      summary: 'Choose a payment method (payer)',
      description:
        'What the form of the payment page sends, to choose a method or to cancel. `token` is in that page.',
      body: {
        types: [form, multipart],
        schema: ref('PaymentChoice'),
        example: { token: '<TOKEN>', method: 'fpx', bank_fpx: 'BIMB0340' },
      },
      answers: {
        200: pageAnswer('A form that takes the payer to the gateway'),
        303: settled,
        ...pageRefusals(...new Set([400, 401, 409, 413, 415, ...pageStatuses])),
      },
    },
    {
      ...forPayer,
      id: `${channel}ShowReceipt`,
      route: `GET /${channel}/receipt/{id}`,
      summary: 'Open the receipt (payer)',
      description: 'A payment that has not succeeded has a statement instead, which says so.',
      answers: { 200: pageAnswer('The receipt or the statement'), ...pageRefusals(...pageStatuses) },
    },
    {
      ...forPayer,
      id: `${channel}SendReceipt`,
      route: `POST /${channel}/receipt/{id}`,
      summary: 'Send the receipt again (payer)',
      description:
        'What the button of the receipt page sends. The email goes to the address of the payment, at most once in ten minutes.',
      body: { types: [form, multipart], schema: ref('ReceiptRequest'), example: { token: '<TOKEN>' } },
      answers: {
        303: redirect('On to the receipt'),
        ...pageRefusals(...new Set([400, 401, 413, 415, ...pageStatuses])),
      },
    },
    {
      ...forPayer,
      id: `${channel}DownloadReceipt`,
      route: `GET /${channel}/download/{id}`,
      summary: 'Download the receipt (payer)',
      answers: {
        200: {
          description: 'The receipt or the statement',
          content: { 'application/pdf': { schema: { type: 'string', contentMediaType: 'application/pdf' } } },
        },
        ...pageRefusals(...pageStatuses),
      },
    },
  ];
}

/** What both channels answer, by the names of the schemas. */
export const payStructs = {
  PaymentStarted: paymentStarted,
  PaymentFields: paymentFields,
  RequeryAnswer: requeryAnswer,
  Refusal: refusal,
  RequeryRefusal: requeryRefusal,
};

/** No struct reads these: a result is stored as received, and the forms are read field by field. */
const text = { type: 'string' };
const gatewayResult: JsonSchema = {
  type: 'object',
  required: ['STATUS', 'MERCHANT_CODE', 'TRANS_ID'],
  properties: {
    STATUS: {
      ...text,
      enum: ['0', '1', '2', '3'],
      description: '0 failed, 1 success, 2 cancelled, 3 pending',
    },
    PAYMENT_MODE: { ...text, enum: paymentModes },
    MERCHANT_CODE: text,
    TRANS_ID: { ...text, description: 'Transaction id of the service' },
    RECEIPT_NO: text,
    PAYMENT_TRANS_ID: text,
    PAYMENT_DATETIME: { ...text, description: 'YYYY-MM-DD HH:mm:ss, 14 digits, or ISO 8601' },
    AMOUNT: text,
    BUYER_BANK: text,
    BUYER_NAME: text,
    MERCHANT_ORDER_NO: text,
    CHECKSUM: text,
  },
  additionalProperties: text,
};
const paymentChoice: JsonSchema = {
  type: 'object',
  required: ['token'],
  properties: {
    token: text,
    method: { ...text, enum: paymentModes },
    again: { ...text, description: 'Not empty: another attempt although an earlier one is open' },
    cancel: { ...text, description: 'Not empty: the payer will not pay' },
    bank_fpx: text,
    bank_fpx1: text,
  },
};

const receiptRequest: JsonSchema = { type: 'object', required: ['token'], properties: { token: text } };

export const payFormSchemas = {
  GatewayResult: gatewayResult,
  PaymentChoice: paymentChoice,
  ReceiptRequest: receiptRequest,
};
