/** The OpenAPI 3.1 description of all three interfaces, made from the structs that validate what comes in. */
import { NewUser } from '../../commands/user.ts';
import type { Sen } from '../../kernel/money.ts';
import { paymentModes } from '../../kernel/payment-modes.ts';
import type { JsonSchema } from '../../kernel/with-json-schema.ts';
import { contentOperations } from '../api/operations.ts';
import { genericOperations, testPageOperations } from '../generic/operations.ts';
import { bodyStruct as genericBody } from '../generic/request-body.ts';
import { landregOperations, landregWebhooks } from '../landreg/operations.ts';
import { bodyStruct as landregBody } from '../landreg/request-body.ts';
import * as answers from '../pay/answers.ts';
import { withFieldTexts } from '../pay/field-texts.ts';
import { type AnyStruct, jsonSchemaOf } from '../server/openapi/json-schema.ts';
import type { Content, Operation, SchemaOrName } from '../server/openapi/operation.ts';
import { samplesOf } from '../server/openapi/samples.ts';

export type DescribedConfig = {
  baseUrl: string;
  production: boolean;
  maxAmountSen: Sen;
  sandbox: { enabled: boolean };
};

/** Limits are those of `config`; the test pages are only in it where they are. */
export function createDocument(config: DescribedConfig) {
  const operations = [
    ...contentOperations,
    ...genericOperations,
    ...landregOperations,
    ...(config.sandbox.enabled ? testPageOperations : []),
  ];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Documentation Platform API',
      version: '1.0.0',
      description:
        'Users, projects and health of the content service, and the payment interfaces for merchants and for the land registry.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: '/', description: 'Where this description comes from' },
      { url: 'http://localhost:5173', description: 'Development' },
      { url: '{base_url}', description: 'Production', variables: { base_url: { default: config.baseUrl } } },
    ],
    tags: Object.entries(tags)
      .filter(([name]) => operations.some(({ tag }) => tag === name))
      .map(([name, description]) => ({ name, description })),
    paths: pathsOf(operations, config.baseUrl),
    webhooks: landregWebhooks,
    components: { securitySchemes, schemas: schemasOf(config) },
  };
}

const tags = {
  Health: 'How the service is, and what it can do',
  Users: 'Users of the content service',
  Projects: 'Projects that the content service lists',
  'Generic payments': 'Payments that merchants ask for',
  'Land registry': 'Payments that the land registry asks for',
  'Test pages': 'For trying things out in a browser; not in production',
};

const securitySchemes = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'One of the keys of /api/v1. A development service without keys asks for none.',
  },
  merchantKey: { type: 'http', scheme: 'bearer', description: 'One of the merchant’s API keys' },
  landregKey: { type: 'http', scheme: 'bearer', description: 'The land registry’s access key' },
  accessToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Access-Token',
    description: 'What this service presents to the land registry',
  },
  signedLink: {
    type: 'apiKey',
    in: 'query',
    name: 'sig',
    description: 'The signature of a link that this service made for a payer',
  },
};

/** What the description is made of, by the names that schemas have in it. */
export function structsOf(config: DescribedConfig): Record<string, AnyStruct> {
  return {
    HealthResponse: answers.health,
    User: answers.user,
    CreateUserPayload: NewUser,
    Project: answers.project,
    ErrorResponse: answers.errorResponse,
    GenericCheck: answers.genericCheck,
    GenericPaymentRequest: genericBody(config),
    LandregCheck: answers.landregCheck,
    LandregPaymentRequest: landregBody(config),
    LandRegistryCallback: answers.landRegistryCallback,
    PaymentStarted: answers.paymentStarted,
    PaymentFields: answers.paymentFields,
    RequeryAnswer: answers.requeryAnswer,
    Refusal: answers.refusal,
    RequeryRefusal: answers.requeryRefusal,
  };
}

function schemasOf(config: DescribedConfig): Record<string, JsonSchema> {
  const read = Object.entries(structsOf(config)).map(([name, struct]) => [
    name,
    withFieldTexts(name, jsonSchemaOf(struct)),
  ]);
  return { ...Object.fromEntries(read), GatewayResult: gatewayResult, PaymentChoice: paymentChoice };
}

/** No struct reads these two: a result is kept as it came, whatever is in it, and a form is asked field by field. */
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
    bank_fpx: text,
    bank_fpx1: text,
  },
};

function pathsOf(operations: readonly Operation[], baseUrl: string) {
  const byPath = Map.groupBy(operations, ({ path }) => path);
  return Object.fromEntries(
    Array.from(byPath, ([path, group]) => [
      path,
      Object.fromEntries(group.map((operation) => [operation.method, operationObject(operation, baseUrl)])),
    ]),
  );
}

function operationObject(operation: Operation, baseUrl: string) {
  const { id, tag, summary, description, security, parameters = [], body, answers, callbacks } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: security.map((scheme) => ({ [scheme]: [] })),
    ...(parameters.length > 0 && {
      parameters: parameters.map((parameter) => ({ ...parameter, required: parameter.in === 'path' })),
    }),
    ...(body && {
      requestBody: {
        required: true,
        content: contentObject(
          Object.fromEntries(
            body.types.map((type) => [type, { schema: body.schema, example: body.example }]),
          ),
        ),
      },
    }),
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, { content, ...answer }]) => [
        status,
        { ...answer, ...(content && { content: contentObject(content) }) },
      ]),
    ),
    ...(callbacks && { callbacks }),
    'x-codeSamples': samplesOf(operation, baseUrl),
  };
}

function contentObject(content: Content) {
  return Object.fromEntries(
    Object.entries(content).map(([type, { schema, ...rest }]) => [
      type,
      { schema: schemaObject(schema), ...rest },
    ]),
  );
}

function schemaObject(schema: SchemaOrName): JsonSchema {
  return typeof schema === 'string' ? { $ref: `#/components/schemas/${schema}` } : schema;
}
