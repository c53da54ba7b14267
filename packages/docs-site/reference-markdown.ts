/** An OpenAPI document as Markdown: for readers without scripts, and for language models. */

type Schema = Readonly<Record<string, unknown>> & {
  description?: string;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
};
type Media = { schema?: Schema; example?: unknown };
type Body = { description?: string; content?: Readonly<Record<string, Media>> };
type Operation = {
  summary?: string;
  description?: string;
  tags?: readonly string[];
  security?: readonly object[];
  parameters?: readonly {
    in: string;
    name: string;
    required?: boolean;
    description?: string;
    schema?: Schema;
  }[];
  requestBody?: Body;
  responses?: Readonly<Record<string, Body>>;
  callbacks?: Readonly<Record<string, Paths>>;
  'x-codeSamples'?: readonly { lang: string; label: string; source: string }[];
};
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;
type Described = {
  info: { title: string; version: string; description?: string };
  tags: readonly { name: string; description?: string }[];
  paths: Paths;
  components: { schemas: Readonly<Record<string, Schema>> };
};

/** `document` is an OpenAPI 3.1 document whose references all lead to its schemas. Operations are grouped by tag. */
export function referenceMarkdown(document: object): string {
  const { info, tags, paths, components } = document as Described;
  const operations = Object.entries(paths).flatMap(([path, group]) =>
    Object.entries(group).map(([method, operation]) => ({ method, path, operation })),
  );
  return [
    `# ${info.title}`,
    info.description ?? '',
    ...tags.flatMap((tag) => [
      `## ${tag.name}`,
      tag.description ?? '',
      ...operations
        .filter(({ operation }) => operation.tags?.includes(tag.name))
        .flatMap((each) => operationText(each)),
    ]),
    '## Schemas',
    ...Object.entries(components.schemas).flatMap(([name, schema]) => [
      `### ${name}`,
      schema.description ?? '',
      schema.properties ? fieldsText(schema) : typeText(schema),
    ]),
  ]
    .filter((block) => block !== '')
    .join('\n\n');
}

function operationText({ method, path, operation }: { method: string; path: string; operation: Operation }) {
  const {
    callbacks = {},
    description = '',
    parameters = [],
    requestBody,
    responses = {},
    summary,
  } = operation;
  const [sample] = operation['x-codeSamples'] ?? [];
  const schemes = (operation.security ?? []).flatMap((each) => Object.keys(each));
  return [
    `### ${summary ?? path}`,
    fenced('http', `${method.toUpperCase()} ${path}`),
    description,
    schemes.length > 0 ? `Authorization: ${schemes.map(code).join(' or ')}` : '',
    table(
      ['parameter', 'in', 'type', 'meaning'],
      parameters.map(({ name, in: place, required, schema = {}, description: meaning = '' }) => [
        code(name) + (required ? ', required' : ''),
        place,
        typeText(schema),
        meaning,
      ]),
    ),
    ...bodyText('Body', requestBody),
    table(
      ['answer', 'meaning', 'body'],
      Object.entries(responses).map(([status, { content = {}, description: meaning = '' }]) => [
        status,
        meaning,
        Object.entries(content)
          .map(([type, { schema = {} }]) => `${code(type)} ${typeText(schema)}`)
          .join(', '),
      ]),
    ),
    sample ? fenced(sample.lang.toLowerCase(), sample.source) : '',
    ...Object.values(callbacks).flatMap((called) =>
      Object.entries(called).flatMap(([url, group]) =>
        Object.entries(group).flatMap(([verb, each]) => [
          `#### ${each.summary ?? url}`,
          fenced('http', `${verb.toUpperCase()} ${url}`),
          each.description ?? '',
          ...bodyText('Body', each.requestBody),
        ]),
      ),
    ),
  ];
}

function bodyText(title: string, body: Body | undefined): string[] {
  return Object.entries(body?.content ?? {}).flatMap(([type, { schema = {}, example }]) => [
    `${title}: ${code(type)} ${typeText(schema)}`,
    example === undefined || type !== 'application/json'
      ? ''
      : fenced('json', JSON.stringify(example, null, 2)),
  ]);
}

function fieldsText({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, field]) => [
    code(name) + (required.includes(name) ? ', required' : ''),
    typeText(field),
    field.description ?? '',
  ]);
  return table(['field', 'type', 'meaning'], rows);
}

/** Such as `string, at most 64 characters`, or a link to the schema that is referred to. */
function typeText(schema: Schema): string {
  const { $ref, type, items, enum: values, const: value, maxLength, maximum, minimum, format } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.split('/').at(-1) ?? '';
    return `[${name}](#${name.toLowerCase()})`;
  }
  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices)) return [...new Set(choices.map(typeText))].join(' or ');
  if (Array.isArray(values)) return values.map((each) => code(String(each))).join(', ');
  if (value !== undefined) return code(String(value));
  if (type === 'array') return `list of ${typeText((items ?? {}) as Schema)}`;
  return [
    Array.isArray(type) ? type.join(' or ') : type,
    format,
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    minimum === undefined ? '' : `at least ${minimum}`,
    maximum === undefined ? '' : `at most ${maximum}`,
  ]
    .filter((each) => typeof each === 'string' && each !== '')
    .join(', ');
}

/** Nothing for no rows. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replace(/\s+/g, ' ').replace(/(?<!\\)\|/g, '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const code = (text: string) => `\`${text}\``;
const fenced = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;
