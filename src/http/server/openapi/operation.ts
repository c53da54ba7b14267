/** How each interface describes its operations, and what many of them have in common. */
import type { JsonSchema } from '../../../kernel/with-json-schema.ts';

/** The name of a schema in components/schemas, or a schema. */
export type SchemaOrName = string | JsonSchema;

export type Content = Readonly<Record<string, { schema: SchemaOrName; example?: unknown }>>;

export type Answer = {
  description: string;
  content?: Content;
  headers?: Readonly<Record<string, { description: string; schema: JsonSchema }>>;
};

export type Answers = Readonly<Record<number, Answer>>;

export type Parameter = {
  in: 'path' | 'query' | 'header';
  name: string;
  description: string;
  schema: JsonSchema;
  /** What samples send; a parameter without is left out of them. */
  example?: string | number;
};

export type Tag = { name: string; description: string };

/** A way to show who is calling. */
export type SecurityScheme = {
  /** Its name in components/securitySchemes. */
  name: string;
  definition: Readonly<Record<string, string>>;
  /** What samples send as the Bearer key. */
  sample: string;
};

export type Operation = {
  id: string;
  method: 'get' | 'post';
  path: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** Any one of them is enough; an operation without any is open to everybody. */
  security: readonly SecurityScheme[];
  parameters?: readonly Parameter[];
  /** Its first type is what samples send. */
  body?: { types: readonly string[]; schema: SchemaOrName; example: Readonly<Record<string, unknown>> };
  answers: Answers;
  callbacks?: Readonly<Record<string, unknown>>;
};

export const json = 'application/json';
export const form = 'application/x-www-form-urlencoded';
export const multipart = 'multipart/form-data';
export const html = 'text/html';

export const exampleId = '0B3W7K5TNSMQ2D4V8XZC6RH1JA';

const meanings: Readonly<Record<number, string>> = {
  400: 'The request is malformed; the message names every field at fault',
  401: 'Credentials are missing or wrong',
  404: 'Not found',
  409: 'The request contradicts an earlier one',
  413: 'The body is larger than 64 KiB',
  415: 'The body has a type that is not documented',
  500: 'Internal error of the service',
  502: 'The transaction registry cannot be reached or gave no usable answer',
  503: 'The service or one of its stores is not available at the moment',
  504: 'The transaction registry did not answer in time',
};

/** One answer per status, all with the content that `contentOf` gives. */
export function errorAnswers(statuses: readonly number[], contentOf: (status: number) => Content): Answers {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: meanings[status] ?? '',
        content: contentOf(status),
        ...(status === 401 && { headers: { 'WWW-Authenticate': headerOf('Always `Bearer`') } }),
        ...(status === 503 && { headers: { 'Retry-After': headerOf('Seconds') } }),
      },
    ]),
  );
}

export function headerOf(description: string): { description: string; schema: JsonSchema } {
  return { description, schema: { type: 'string' } };
}

export function page(description: string): Answer {
  return { description, content: { [html]: { schema: { type: 'string' } } } };
}

export function redirect(description: string): Answer {
  return {
    description,
    headers: { Location: { description: 'Where to go', schema: { type: 'string', format: 'uri' } } },
  };
}
