/** The OpenAPI 3.1 description of all interfaces, assembled from what each says of itself. */
import type { Config } from '../../config/config.ts';
import type { JsonSchema } from '../../kernel/with-json-schema.ts';
import { apiOperations, apiStructs } from '../api/operations.ts';
import { genericOperations, genericStructs, testPageOperations } from '../generic/operations.ts';
import { accessToken, landregOperations, landregStructs, landregWebhooks } from '../landreg/operations.ts';
import { payFormSchemas, payStructs } from '../pay/operations.ts';
import { type AnyStruct, jsonSchemaOf } from '../server/openapi/json-schema.ts';
import type { Content, Operation, SchemaOrName } from '../server/openapi/operation.ts';
import { samplesOf } from '../server/openapi/samples.ts';

export type DescribedConfig = Pick<Config, 'baseUrl' | 'production' | 'maxAmountSen'> & {
  sandbox: { enabled: boolean };
};

/** Limits are those of `config`; the test pages are described only where they are served. */
export function createDocument(config: DescribedConfig) {
  const operations = [
    ...apiOperations,
    ...genericOperations,
    ...landregOperations,
    ...(config.sandbox.enabled ? testPageOperations : []),
  ];
  const schemas = Object.entries(structsOf(config)).map(([name, struct]) => [name, jsonSchemaOf(struct)]);
  const schemes = [accessToken, ...operations.flatMap(({ security }) => security)];
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
      { url: '/', description: 'The server of this description' },
      { url: 'http://localhost:5173', description: 'Development' },
      { url: '{base_url}', description: 'Production', variables: { base_url: { default: config.baseUrl } } },
    ],
    tags: [...new Set(operations.map(({ tag }) => tag))],
    paths: pathsOf(operations, config.baseUrl),
    webhooks: landregWebhooks,
    components: {
      securitySchemes: Object.fromEntries(schemes.map(({ name, definition }) => [name, definition])),
      schemas: { ...Object.fromEntries(schemas), ...payFormSchemas } as Record<string, JsonSchema>,
    },
  };
}

/** The structs that validate requests and answers, by the names of their schemas. */
export function structsOf(config: DescribedConfig): Record<string, AnyStruct> {
  return { ...apiStructs, ...payStructs, ...genericStructs(config), ...landregStructs(config) };
}

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
    tags: [tag.name],
    summary,
    ...(description !== undefined && { description }),
    security: security.map(({ name }) => ({ [name]: [] })),
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
