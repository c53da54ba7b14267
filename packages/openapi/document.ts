/**
 * An OpenAPI 3.1 document from a folder of YAML files, with the schemas that are generated from what validates, and with
 * samples of calls.
 */
import { readFileSync } from 'node:fs';
import type { JsonSchema } from '@ledger/kernel/with-json-schema.ts';
import { parse } from 'yaml';
import { type AnyStruct, jsonSchemaOf } from './json-schema.ts';
import { type Callee, type Operation, samplesOf } from './samples.ts';

type Parts = Callee & {
  /** Has `service.yaml`, `shared.yaml` and a file of each interface. */
  folder: URL;
  /** In this order. */
  interfaces: readonly string[];
  /** By the names of the schemas that they become; all others are in the files. */
  structs: Readonly<Record<string, AnyStruct>>;
};

type Files = { folder: URL; read: Map<string, unknown> };

type Interface = {
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  webhooks?: object;
  components?: Components;
};

type Components = { securitySchemes?: object; schemas?: Readonly<Record<string, JsonSchema>> };

/** Throws an Error that names a reference or a description that leads nowhere. */
export function createDocument({ folder, interfaces: names, structs, ...callee }: Parts) {
  const files: Files = { folder, read: new Map() };
  const load = (file: string) => inlined(parsed(file, files), files);
  const { servers, ...service } = load('service.yaml') as {
    servers: object[];
    openapi: string;
    info: object;
  };
  const interfaces = names.map((name) => load(`${name}.yaml`) as Interface);
  const shared = load('shared.yaml') as { components: Components };
  const components = [...interfaces, shared].map((each) => each.components ?? {});
  const schemas: NonNullable<Components['schemas']> = Object.assign(
    {},
    ...components.map((each) => each.schemas),
  );
  const generated = Object.entries(structs).map(([name, struct]) => [
    name,
    described(jsonSchemaOf(struct), schemas[name]),
  ]);
  const production = { description: 'Production', variables: { base_url: { default: callee.baseUrl } } };
  const describe = (path: string, [method, operation]: [string, Operation]) => {
    const samples = samplesOf({ method, path, operation }, callee);
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
  if (unknown !== undefined) throw new Error(`The OpenAPI files describe ${unknown}, which does not exist`);
  const members = Object.entries(properties).map(([name, each]) => [name, described(each, texts[name])]);
  return {
    ...schema,
    ...(members.length > 0 && { properties: Object.fromEntries(members) }),
    ...(sentences.length > 0 && { description: sentences.join('. ') }),
  };
}

/** Each file is read once. */
function parsed(file: string, { folder, read }: Files): unknown {
  if (!read.has(file)) read.set(file, parse(readFileSync(new URL(file, folder), 'utf8'), { merge: true }));
  return read.get(file);
}

/** The content with other files' words in place of references to them; references into the document itself stay. */
function inlined(node: unknown, files: Files): unknown {
  if (Array.isArray(node)) return node.map((each) => inlined(each, files));
  if (typeof node !== 'object' || node === null) return node;
  if ('$ref' in node && typeof node.$ref === 'string' && !node.$ref.startsWith('#')) {
    const [file = '', pointer = ''] = node.$ref.split('#/');
    const steps = pointer.split('/');
    const found = steps.reduce<unknown>((value, step) => Object(value)[step], parsed(file, files));
    if (found === undefined) throw new Error(`The OpenAPI files have no ${node.$ref}`);
    return inlined(found, files);
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inlined(value, files)]));
}
