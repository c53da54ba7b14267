/** Samples of how to call an operation, in curl, JavaScript and PHP. */

/** What samples look at in an operation of the description. */
export type Operation = {
  operationId: string;
  security: readonly Readonly<Record<string, unknown>>[];
  parameters?: readonly { in: string; name: string; example?: string | number }[];
  requestBody?: { content: Readonly<Record<string, { example: Readonly<Record<string, unknown>> }>> };
  responses: Readonly<Record<string, { content?: Readonly<Record<string, unknown>> }>>;
};

const json = 'application/json';

/** What samples send as the Bearer key, by the name of the security scheme. */
const keys: Readonly<Record<string, string>> = {
  apiKey: '<API_KEY>',
  merchantKey: '<API_KEY>',
  landregKey: '<ACCESS_KEY>',
};

type Sample = { lang: string; label: string; source: string };

type Call = {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: { type: string; fields: Readonly<Record<string, unknown>> } | undefined;
  /** The file for an answer that is not text. */
  file: string | undefined;
};

type DescribedCall = { method: string; path: string; operation: Operation };

/** They send the first type of body, and no parameter that lacks an example. */
export function samplesOf(described: DescribedCall, baseUrl: string): Sample[] {
  const call = callOf(described, baseUrl);
  return [
    { lang: 'Shell', label: 'curl', source: curl(call) },
    { lang: 'JavaScript', label: 'JavaScript', source: javaScript(call) },
    { lang: 'PHP', label: 'PHP', source: php(call) },
  ];
}

function callOf({ method, path, operation }: DescribedCall, baseUrl: string): Call {
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
    body: body && { type, fields: body.example },
    file: responses[200]?.content?.['application/pdf'] ? 'receipt.pdf' : undefined,
  };
}

function curl({ method, url, headers, body, file }: Call): string {
  const fields =
    body?.type === json
      ? [`-d ${shellQuoted(JSON.stringify(body.fields, null, 2))}`]
      : Object.entries(body?.fields ?? {}).map(
          ([name, value]) => `--data-urlencode ${shellQuoted(`${name}=${value}`)}`,
        );
  return [
    `curl -X ${method} ${shellQuoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...fields,
    ...(file ? [`--fail -o ${file}`] : []),
  ].join(' \\\n  ');
}

export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function javaScript({ method, url, headers, body, file }: Call): string {
  const literal = (value: unknown) => JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
  const writer = body?.type === json ? 'JSON.stringify' : 'new URLSearchParams';
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: ${JSON.stringify(method)},`,
    ...(Object.keys(headers).length > 0 ? [`  headers: ${literal(headers)},`] : []),
    ...(body ? [`  body: ${writer}(${literal(body.fields)}),`] : []),
    '});',
    ...(file
      ? [
          "const { writeFile } = await import('node:fs/promises');",
          `if (response.ok) await writeFile('${file}', new Uint8Array(await response.arrayBuffer()));`,
        ]
      : ['console.log(response.status, await response.text());']),
  ].join('\n');
}

function php({ method, url, headers, body, file }: Call): string {
  const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
  const array = (entries: readonly string[]) =>
    ['[', ...entries.map((it) => `        ${it},`), '    ]'].join('\n');
  const fields = Object.entries(body?.fields ?? {});
  const written =
    body?.type === json
      ? quoted(JSON.stringify(body.fields, null, 2))
      : `http_build_query(${array(fields.map(([name, value]) => `${quoted(name)} => ${quoted(String(value))}`))})`;
  return [
    '<?php',
    `$curl = curl_init(${quoted(url)});`,
    'curl_setopt_array($curl, [',
    '    CURLOPT_RETURNTRANSFER => true,',
    `    CURLOPT_CUSTOMREQUEST => ${quoted(method)},`,
    `    CURLOPT_HTTPHEADER => ${array(Object.entries(headers).map(([name, value]) => quoted(`${name}: ${value}`)))},`,
    ...(body ? [`    CURLOPT_POSTFIELDS => ${written},`] : []),
    ']);',
    '$answer = curl_exec($curl);',
    file
      ? `if (curl_getinfo($curl, CURLINFO_RESPONSE_CODE) === 200) file_put_contents('${file}', $answer);`
      : 'echo curl_getinfo($curl, CURLINFO_RESPONSE_CODE), " ", $answer;',
  ].join('\n');
}
