// Templates escape what they show, and only files of views/ are ever compiled as templates.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createTemplates } from '../../../src/common/templates.ts';

const attack = `{{ 7 * 7 }}{% include "secret.njk" %}<script>alert('x')</script>{{ range.constructor("return 49")() }}`;
const escaped =
  '{{ 7 * 7 }}{% include &quot;secret.njk&quot; %}&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;' +
  '{{ range.constructor(&quot;return 49&quot;)() }}';

test('a text that is shown is escaped and never evaluated, however it reaches the page', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-views-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const templates = {
    'secret.njk': 'a secret',
    'layout.njk': '{% block title %}{% endblock %}',
    'part.njk': '{{ text }}',
    'macros.njk': '{% macro shown(text) %}{{ text }}{% endmacro %}',
    'page.njk':
      '{% extends "layout.njk" %}{% import "macros.njk" as macros %}{% block title %}' +
      '{{ text }}|{% include "part.njk" %}|{{ macros.shown(text) }}|{% set kept = text %}{{ kept }}' +
      '|{% for each in [text] %}{{ each }}{% endfor %}{% endblock %}',
  };
  for (const [name, template] of Object.entries(templates)) await writeFile(join(folder, name), template);
  t.is(createTemplates(folder).render('page.njk', { text: attack }), Array(5).fill(escaped).join('|'));
});

test('no template outside its folder is found', (t) => {
  const environment = createTemplates('email');
  for (const name of ['../payment.njk', '../../package.json', '/etc/passwd', attack])
    t.throws(() => environment.render(name, {}), { message: /template not found/ }, name);
});

test('no code compiles a text as a template, and templates leave out escaping only for what we wrote', async (t) => {
  const filesOf = async (folder: string, form: RegExp) =>
    (await readdir(folder, { recursive: true }))
      .filter((name) => form.test(name) && !name.includes('node_modules'))
      .map((name) => join(folder, name));
  const sources = [...(await filesOf('src', /\.ts$/)), ...(await filesOf('packages', /\.ts$/))];
  const unescaping: string[] = [];
  const textFolders: string[] = [];
  for (const file of sources) {
    const source = await readFile(file, 'utf8');
    t.notRegex(source, /\brenderString\b|nunjucks\.(?:compile|precompile\w*|render|Template)\b/, file);
    if (/\bautoescape: (?!true)/.test(source)) unescaping.push(file);
    textFolders.push(...(source.match(/\bcreateTextTemplates\([^)]*\)/g) ?? []));
  }
  t.deepEqual(unescaping, ['packages/web/templates.ts']);
  // These folders have only templates of plain text and Markdown.
  t.deepEqual([...new Set(textFolders)].sort(), [
    'createTextTemplates(folder: string)',
    'createTextTemplates(textFolder)',
  ]);
  for (const folder of ['views/text', 'packages/docs-site/views/text'])
    for (const name of await readdir(folder)) t.regex(name, /\.(?:md|txt)\.njk$/);
  const unescaped: string[] = [];
  for (const file of [
    ...(await filesOf('views', /\.njk$/)),
    ...(await filesOf('packages/sandbox/views', /./)),
    ...(await filesOf('packages/docs-site/views', /\.njk$/)),
  ]) {
    const content = await readFile(file, 'utf8');
    t.notRegex(content, /\bautoescape\b/, file);
    for (const [found] of content.matchAll(/\{\{[^}]*\|\s*safe\b[^}]*\}\}/g)) unescaped.push(found);
    // A template is included by a name in quotes, never by one that the model has.
    t.notRegex(content, /\{%-?\s*(?:include|extends|import|from)\s+(?!["'])/, file);
  }
  // The docs: pages of content/docs and the API, rendered by our own Markdown, our own script, and koa2-swagger-ui's.
  t.deepEqual([...new Set(unescaped)].sort(), [
    '{{ html | safe }}',
    '{{ script | safe }}',
    '{{ themeScript | safe }}',
  ]);
});
