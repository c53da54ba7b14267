/** How each interface describes its operations, and what many of them have in common. */
import type { JsonSchema } from '../../../kernel/with-json-schema.ts';

type Content = Readonly<Record<string, { schema: JsonSchema; example?: unknown }>>;

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
  /** What samples send; they leave out a parameter without an example. */
  example?: string | number;
};

export type SecurityScheme = {
  /** Its name in components/securitySchemes. */
  name: string;
  definition: Readonly<Record<string, string>>;
  /** What samples send as the Bearer key. */
  sample: string;
};

export type Operation = {
  id: string;
  route: `${'GET' | 'POST'} /${string}`;
  summary: string;
  description?: string;
  /** Any one of them is enough; an operation without any is open to everybody. */
  security?: readonly SecurityScheme[];
  parameters?: readonly Parameter[];
  /** Samples send its first type. */
  body?: { types: readonly string[]; schema: JsonSchema; example: Readonly<Record<string, unknown>> };
  answers: Answers;
  callbacks?: Readonly<Record<string, unknown>>;
};

export type Section = { tag: { name: string; description: string }; operations: readonly Operation[] };

export const json = 'application/json';
export const form = 'application/x-www-form-urlencoded';
export const multipart = 'multipart/form-data';

export const exampleId = '0B3W7K5TNSMQ2D4V8XZC6RH1JA';

export function bearer(name: string, description: string, sample: string): SecurityScheme {
  return { name, definition: { type: 'http', scheme: 'bearer', description }, sample };
}

/** A schema of components/schemas. */
export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

export function jsonAnswer(description: string, schema: JsonSchema, example?: unknown): Answer {
  return { description, content: { [json]: { schema, ...(example !== undefined && { example }) } } };
}

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

/** One answer per status, each with the content that `contentOf` gives. */
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

export const page: Content = { 'text/html': { schema: { type: 'string' } } };

export function pageAnswer(description: string): Answer {
  return { description, content: page };
}

export function redirect(description: string): Answer {
  return {
    description,
    headers: { Location: { description: 'Where to go', schema: { type: 'string', format: 'uri' } } },
  };
}
