/** The OpenAPI 3.1 description of all interfaces, assembled from the description of each. */
import type { Config } from '../../config/config.ts';
import type { JsonSchema } from '../../kernel/with-json-schema.ts';
import { apiSections, apiStructs } from '../api/operations.ts';
import { genericSection, genericStructs, testPages } from '../generic/operations.ts';
import { accessToken, landregSection, landregStructs, landregWebhooks } from '../landreg/operations.ts';
import { payFormSchemas, payStructs } from '../pay/operations.ts';
import { type AnyStruct, jsonSchemaOf } from '../server/openapi/json-schema.ts';
import type { Operation } from '../server/openapi/operation.ts';
import { samplesOf } from '../server/openapi/samples.ts';

type DescribedConfig = Pick<Config, 'baseUrl' | 'production' | 'maxAmountSen'> & {
  sandbox: { enabled: boolean };
};

/** Limits are those of `config`; the test pages are described only where they are served. */
export function createDocument(config: DescribedConfig) {
  const sections = [
    ...apiSections,
    genericSection,
    landregSection,
    ...(config.sandbox.enabled ? [testPages] : []),
  ];
  const operations = sections.flatMap((section) =>
    section.operations.map((operation) => ({ ...operation, tag: section.tag.name })),
  );
  const byPath = Map.groupBy(operations, ({ route }) => route.slice(route.indexOf('/')));
  const schemes = [accessToken, ...operations.flatMap(({ security = [] }) => security)];
  const schemas = Object.entries(structsOf(config)).map(([name, struct]) => [name, jsonSchemaOf(struct)]);
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
    tags: sections.map(({ tag }) => tag),
    paths: Object.fromEntries(
      Array.from(byPath, ([path, group]) => [
        path,
        Object.fromEntries(group.map((operation) => [methodOf(operation), describe(operation, config)])),
      ]),
    ),
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

function methodOf({ route }: Operation): 'get' | 'post' {
  return route.startsWith('GET ') ? 'get' : 'post';
}

function describe(operation: Operation & { tag: string }, { baseUrl }: DescribedConfig) {
  const { id, tag, route: _, security = [], parameters = [], body, answers, ...texts } = operation;
  return {
    operationId: id,
    tags: [tag],
    ...texts,
    security: security.map(({ name }) => ({ [name]: [] })),
    parameters: parameters.map((parameter) => ({ ...parameter, required: parameter.in === 'path' })),
    ...(body && {
      requestBody: {
        required: true,
        content: Object.fromEntries(
          body.types.map((type) => [type, { schema: body.schema, example: body.example }]),
        ),
      },
    }),
    responses: answers,
    'x-codeSamples': samplesOf(operation, baseUrl),
  };
}
