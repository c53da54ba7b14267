/** Samples of how to call an operation, in curl, JavaScript and PHP. */
import { fileURLToPath } from 'node:url';
import { createTemplates, SafeString } from '@ledger/web/templates.ts';

/** What samples look at in an operation of the description. */
export type Operation = {
  operationId: string;
  security: readonly Readonly<Record<string, unknown>>[];
  parameters?: readonly { in: string; name: string; example?: string | number }[];
  requestBody?: { content: Readonly<Record<string, { example: Readonly<Record<string, unknown>> }>> };
  responses: Readonly<Record<string, { content?: Readonly<Record<string, unknown>> }>>;
};

const json = 'application/json';

/** Where the service is, and what samples send as the Bearer key, by the name of the security scheme. */
export type Callee = { baseUrl: string; keys: Readonly<Record<string, string>> };

type Sample = { lang: string; label: string; source: string };

type DescribedCall = { method: string; path: string; operation: Operation };

const templates = createTemplates(fileURLToPath(new URL('samples/', import.meta.url)));
const languages = [
  { lang: 'Shell', label: 'curl', template: 'curl.njk' },
  { lang: 'JavaScript', label: 'JavaScript', template: 'javascript.njk' },
  { lang: 'PHP', label: 'PHP', template: 'php.njk' },
];

templates.addFilter('shell', (text: string) => new SafeString(shellQuoted(text)));
templates.addFilter('php', (text: string) => new SafeString(`'${text.replace(/[\\']/g, '\\$&')}'`));
templates.addFilter(
  'json',
  (value: unknown) => new SafeString(JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')),
);

/** They send the first type of body, and no parameter that lacks an example. */
export function samplesOf(described: DescribedCall, callee: Callee): Sample[] {
  const call = callOf(described, callee);
  return languages.map(({ template, ...language }) => ({
    ...language,
    source: templates.render(template, call).trimEnd(),
  }));
}

function callOf({ method, path, operation }: DescribedCall, { baseUrl, keys }: Callee): object {
  const { security, parameters = [], requestBody, responses } = operation;
  const given = (place: string) =>
    parameters.flatMap(({ in: where, name, example }) =>
      where === place && example !== undefined ? [[name, String(example)] as const] : [],
    );
  const [scheme] = Object.keys(security[0] ?? {});
  const fullPath = given('path').reduce(
    (result, [name, value]) => result.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  );
  const query = new URLSearchParams(Object.fromEntries(given('query')));
  const [type = '', body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return {
    method: method.toUpperCase(),
    url: `${baseUrl}${fullPath}${query.size > 0 ? `?${query}` : ''}`,
    headers: {
      ...(scheme && { Authorization: `Bearer ${keys[scheme]}` }),
      ...Object.fromEntries(given('header')),
      ...(type === json && { 'Content-Type': json, Accept: json }),
    },
    body: body && {
      isJson: type === json,
      fields: body.example,
      text: JSON.stringify(body.example, null, 2),
    },
    /** For an answer that is not text. */
    file: responses[200]?.content?.['application/pdf'] ? 'answer.pdf' : null,
  };
}

export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
