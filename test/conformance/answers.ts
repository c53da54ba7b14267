// Whether an answer is one that the description has: its status, its type, its headers, its body.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

type Schema = { [keyword: string]: unknown };
type Documented = {
  content?: Record<string, { schema: Schema }>;
  headers?: Record<string, unknown>;
};
export type DescribedOperation = {
  operationId: string;
  security: Record<string, unknown>[];
  parameters?: { in: string; name: string }[];
  requestBody?: { content: Record<string, { example: Record<string, unknown> }> };
  responses: Record<string, Documented>;
};
export type Description = {
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, Schema> };
};

export type Received = { status: number; headers: Record<string, unknown>; body: string };

/** Those that are not in every answer of their status. */
const occasional = ['As-At', 'Link', 'Retry-After'];

/** Makes the function that says what is wrong with an answer to an operation; null when nothing is. */
export function createCheck(description: Description) {
  const ajv = new Ajv2020({ strict: false, formats: { uri: URL.canParse, email: true, 'date-time': true } });
  ajv.addSchema({ $id: 'description', ...closed({ components: description.components }) });
  const compiled = new Map<Schema, ValidateFunction>();
  const compile = (schema: Schema): ValidateFunction => {
    const rooted = JSON.stringify(closed(schema)).replaceAll('"#/', '"description#/');
    const matches = ajv.compile(JSON.parse(rooted));
    compiled.set(schema, matches);
    return matches;
  };
  const bodyFault = (schema: Schema, body: string): string | null => {
    const matches = compiled.get(schema) ?? compile(schema);
    return matches(JSON.parse(body)) ? null : `${JSON.stringify(matches.errors)} in ${body}`;
  };

  return ({ responses }: DescribedOperation, { status, headers, body }: Received): string | null => {
    const documented = responses[status];
    if (!documented) return `status ${status} is not documented: ${body.slice(0, 200)}`;
    if (status >= 500) return `status ${status}: ${body.slice(0, 200)}`;
    const absent = Object.keys(documented.headers ?? {}).filter(
      (name) => !occasional.includes(name) && headers[name.toLowerCase()] === undefined,
    );
    if (absent.length > 0) return `${status} lacks ${absent}`;
    if (!documented.content) return body === '' ? null : `${status} has a body, which is not documented`;
    const type = String(headers['content-type']).replace(/;.*/, '');
    const content = documented.content[type];
    if (!content) return `${status} has the type ${type}, which is not documented`;
    return type === 'application/json' ? bodyFault(content.schema, body) : null;
  };
}

/** Nothing may be answered that is not described. */
function closed<T>(node: T): T {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map(closed) as T;
  const members = Object.fromEntries(Object.entries(node).map(([key, member]) => [key, closed(member)]));
  const isObjectSchema = typeof Reflect.get(node, 'properties') === 'object' && 'type' in node;
  return { ...members, ...(isObjectSchema && { additionalProperties: false }) } as T;
}
