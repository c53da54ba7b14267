/**
 * The OpenAPI 3.1 description of all interfaces: the files of content/openapi as one document, with the schemas that are
 * generated from what validates, and with samples of calls.
 */
import { readFileSync } from 'node:fs';
import { jsonSchemaOf } from '@ledger/kernel/json-schema.ts';
import type { JsonSchema } from '@ledger/kernel/with-json-schema.ts';
import { parse } from 'yaml';
import type { Config } from '../../config/config.ts';
import { type Operation, samplesOf } from '../server/openapi/samples.ts';
import { structsOf } from './schemas.ts';

type DescribedConfig = Pick<Config, 'baseUrl' | 'production' | 'maxAmountSen'> & {
  sandbox: { enabled: boolean };
};

type Interface = {
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  webhooks?: object;
  components?: Components;
};

type Components = { securitySchemes?: object; schemas?: Readonly<Record<string, JsonSchema>> };

const folder = new URL('../../../content/openapi/', import.meta.url);

/** Limits are those of `config`; the test pages are described only where they are served. */
export function createDocument(config: DescribedConfig) {
  const files = new Map<string, unknown>();
  const load = (file: string) => inlined(parsed(file, files), files);
  const { servers, ...service } = load('service.yaml') as {
    servers: object[];
    openapi: string;
    info: object;
  };
  const names = ['api', 'generic', 'landreg', ...(config.sandbox.enabled ? ['test-pages'] : [])];
  const interfaces = names.map((name) => load(`${name}.yaml`) as Interface);
  const shared = load('shared.yaml') as { components: Components };
  const components = [...interfaces, shared].map((each) => each.components ?? {});
  const schemas: NonNullable<Components['schemas']> = Object.assign(
    {},
    ...components.map((each) => each.schemas),
  );
  const generated = Object.entries(structsOf(config)).map(([name, struct]) => [
    name,
    described(jsonSchemaOf(struct), schemas[name]),
  ]);
  const production = { description: 'Production', variables: { base_url: { default: config.baseUrl } } };
  const describe = (path: string, [method, operation]: [string, Operation]) => {
    const samples = samplesOf({ method, path, operation }, config.baseUrl);
    return [method, { parameters: [], ...operation, 'x-codeSamples': samples }] as const;
  };
  return {
    ...service,
    servers: [...servers, { url: '{base_url}', ...production }],
    tags: interfaces.flatMap(({ tags }) => tags),
    paths: Object.fromEntries(
      interfaces.flatMap(({ paths }) =>
        Object.entries(paths).map(([path, group]) => [
          path,
          Object.fromEntries(Object.entries(group).map((each) => describe(path, each))),
        ]),
      ),
    ),
    webhooks: Object.assign({}, ...interfaces.map(({ webhooks }) => webhooks)) as object,
    components: {
      securitySchemes: Object.assign({}, ...components.map((each) => each.securitySchemes)) as object,
      schemas: { ...schemas, ...Object.fromEntries(generated) } as Readonly<Record<string, JsonSchema>>,
    },
  };
}

/** A generated schema with the descriptions of the file, in front of what it says itself about limits. */
function described(schema: JsonSchema, file: JsonSchema = {}): JsonSchema {
  const sentences = [file.description, schema.description].filter((each) => each !== undefined);
  const { properties = {} } = schema as { properties?: Record<string, JsonSchema> };
  const texts = (file.properties ?? {}) as Record<string, JsonSchema>;
  const unknown = Object.keys(texts).find((name) => !(name in properties));
  if (unknown !== undefined) throw new Error(`content/openapi describes ${unknown}, which does not exist`);
  const members = Object.entries(properties).map(([name, each]) => [name, described(each, texts[name])]);
  return {
    ...schema,
    ...(members.length > 0 && { properties: Object.fromEntries(members) }),
    ...(sentences.length > 0 && { description: sentences.join('. ') }),
  };
}

/** A file of content/openapi. Each is read once. */
function parsed(file: string, files: Map<string, unknown>): unknown {
  if (!files.has(file)) files.set(file, parse(readFileSync(new URL(file, folder), 'utf8'), { merge: true }));
  return files.get(file);
}

/** With what other files say in place of references to them; references into the document itself stay. */
function inlined(node: unknown, files: Map<string, unknown>): unknown {
  if (Array.isArray(node)) return node.map((each) => inlined(each, files));
  if (typeof node !== 'object' || node === null) return node;
  if ('$ref' in node && typeof node.$ref === 'string' && !node.$ref.startsWith('#')) {
    const [file = '', pointer = ''] = node.$ref.split('#/');
    const steps = pointer.split('/');
    const found = steps.reduce<unknown>((value, step) => Object(value)[step], parsed(file, files));
    if (found === undefined) throw new Error(`content/openapi has no ${node.$ref}`);
    return inlined(found, files);
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inlined(value, files)]));
}
