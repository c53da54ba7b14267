/** An OpenAPI document as Markdown: for readers without scripts, and for language models. */
import { createTextTemplates } from '@ledger/web/templates.ts';
import { textFolder } from './assets.ts';

type Schema = Readonly<Record<string, unknown>>;

const templates = createTextTemplates(textFolder);
templates.addFilter('type', typeText);
templates.addFilter('cell', (text = '') => text.replace(/\s+/g, ' ').replace(/(?<!\\)\|/g, '\\|'));

/** `document` is an OpenAPI 3.1 document whose references all lead to its schemas. Operations are grouped by tag. */
export function referenceMarkdown(document: object): string {
  const text = templates.render('reference.md.njk', document);
  return text.replace(/\n{3,}/g, '\n\n').trim();
}

/** Such as `string, at most 64 characters`, or a link to the schema that is referred to. */
function typeText(schema: Schema = {}): string {
  const { $ref, type, items, enum: values, const: value, maxLength, maximum, minimum, format } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.split('/').at(-1) ?? '';
    return `[${name}](#${name.toLowerCase()})`;
  }
  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices)) return [...new Set(choices.map((each) => typeText(each)))].join(' or ');
  if (Array.isArray(values)) return values.map((each) => (each === '' ? 'empty' : `\`${each}\``)).join(', ');
  if (value !== undefined) return `\`${value}\``;
  if (type === 'array') return `list of ${typeText(items as Schema)}`;
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
