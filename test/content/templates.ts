// What the console's templates say: their literal texts, and whether each goes through the translation.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import nunjucks from 'nunjucks';

// The types of nunjucks lack its parser.
type Node = { typename: string; lineno: number; [field: string]: unknown };
const { parser } = nunjucks as unknown as { parser: { parse(source: string): Node } };

const views = fileURLToPath(new URL('../../views/', import.meta.url));

export const consoleTemplates: readonly string[] = [
  ...readdirSync(`${views}console`, { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('.njk'))
    .map((file) => `console/${file}`),
  'email/sign-in.njk',
  'email/staff.njk',
];

/** Macros that translate some of their arguments themselves, by index; their other literals are names and classes. */
const labelled: Readonly<Record<string, readonly number[]>> = {
  action: [1],
  answer: [0],
  choice: [1, 4],
  choiceOf: [1, 4],
  code: [],
  heading: [0],
  input: [1],
  row: [0],
};

type Reading = {
  source: string;
  /** English sentences that are translated. */
  phrases: Set<string>;
  /** What people would read in English in every language, or with a placeholder that nothing fills. */
  faults: string[];
  /** The page as far as it has been read, with a sign in the place of each value. */
  html: string;
};

const valueSign = '\uE000';
const letters = /\p{L}/u;
/** A literal that is one word in small letters is a name, unless it stands where the page shows it. */
const sentence = /^\p{Lu}\p{L}|\p{L} |\p{L}…/u;
/** Elements that hold what people type or copy, pictures, and styles. */
const quoted = /<(code|kbd|style|svg)\b[\s\S]*?<\/\1>/g;
const ownAttribute = /\sdata-[\w-]+="[^"]*"/g;
const readAttribute = /\s(?:title|aria-label|placeholder|alt)="([^"]*)"/g;

export function readTemplate(file: string): { phrases: ReadonlySet<string>; faults: readonly string[] } {
  return readSource(readFileSync(`${views}${file}`, 'utf8'), file);
}

export function readSource(text: string, file: string) {
  const source = text.replace(/\{#[\s\S]*?#\}/g, '');
  const reading: Reading = { source: file, phrases: new Set(), faults: [], html: '' };
  readPage(parser.parse(source), reading);
  const page = reading.html.replace(quoted, '').replace(ownAttribute, '');
  const attributes = Array.from(page.matchAll(readAttribute), ([, value = '']) => value);
  const texts = page.replace(/<[^>]*>/g, '\n').split('\n');
  for (const each of [...attributes, ...texts])
    if (letters.test(each.replaceAll(valueSign, ''))) fault(reading, each.replaceAll(valueSign, '{}'));
  return { phrases: reading.phrases, faults: reading.faults };
}

function fault({ faults, source }: Reading, text: string, node?: Node): void {
  faults.push(`${source}${node ? `:${node.lineno + 1}` : ''}: ${text.trim()}`);
}

const nodesOf = (value: unknown): Node[] =>
  (Array.isArray(value) ? value : [value]).filter((each) => each?.typename);

const childrenOf = ({ children, cond, body, else_, value }: Node): Node[] =>
  [children, cond, body, else_, value].flatMap(nodesOf);

function readPage(node: Node, reading: Reading): void {
  if (node.typename === 'Set') {
    for (const each of nodesOf(node.value)) readExpression(each, reading, false);
    return;
  }
  if (node.typename === 'If' && node.cond) readExpression(node.cond as Node, reading, false);
  if (node.typename !== 'Output') {
    const { cond: _, ...rest } = node;
    for (const each of childrenOf(rest as Node)) readPage(each, reading);
    return;
  }
  for (const each of nodesOf(node.children)) {
    const isInTag = reading.html.lastIndexOf('<') > reading.html.lastIndexOf('>');
    if (each.typename !== 'TemplateData') readExpression(each, reading, !isInTag);
    reading.html += each.typename === 'TemplateData' ? each.value : valueSign;
  }
}

/** `isShown`: whether the value of the expression is what people read. */
function readExpression(node: Node, reading: Reading, isShown: boolean): void {
  const { typename, value } = node;
  const name = (node.name as Node | undefined)?.value as string;
  const args = nodesOf((node.args as Node | undefined)?.children);
  if (typename === 'Literal') {
    if (typeof value === 'string' && letters.test(value) && (isShown || sentence.test(value)))
      fault(reading, value, node);
  } else if (typename === 'Filter') {
    const [of, ...more] = args;
    if (name === 't' && of) collect(of, reading, namesIn(more[0]));
    for (const each of name === 't' ? more : args) readExpression(each, reading, false);
  } else if (typename === 'FunCall') {
    for (const [index, each] of args.entries())
      if (labelled[name]?.includes(index)) collect(each, reading, []);
      else if (!labelled[name] || each.typename !== 'Literal') readExpression(each, reading, false);
  } else if (typename === 'InlineIf') {
    readExpression(node.cond as Node, reading, false);
    for (const each of [node.body, node.else_].flatMap(nodesOf)) readExpression(each, reading, isShown);
  } else if (['Or', 'And', 'Add', 'Concat', 'Group'].includes(typename)) {
    for (const each of [node.left, node.right, node.children].flatMap(nodesOf))
      readExpression(each, reading, isShown);
  } else if (!['Compare', 'In', 'LookupVal'].includes(typename))
    for (const each of childrenOf(node)) readExpression(each, reading, false);
}

/** The names of the values of a sentence; null if they are those of an object that the template only names. */
function namesIn(values: Node | undefined): string[] | null {
  if (!values) return [];
  if (values.typename !== 'Dict') return null;
  return nodesOf(values.children).map(({ key }) => (key as Node).value as string);
}

/** The sentences in what is translated. */
function collect(node: Node, reading: Reading, names: readonly string[] | null): void {
  if (node.typename === 'Literal' && typeof node.value === 'string') {
    reading.phrases.add(node.value);
    for (const [, name = ''] of node.value.matchAll(/\{(\w+)\}/g))
      if (names && !names.includes(name)) fault(reading, `nothing fills {${name}} of "${node.value}"`, node);
  } else if (['InlineIf', 'Group', 'Or', 'And'].includes(node.typename))
    for (const each of [node.body, node.else_, node.children, node.left, node.right].flatMap(nodesOf))
      collect(each, reading, names);
}
