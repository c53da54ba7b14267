import test from 'ava';
import { parseMarkdown } from '../../packages/docs-site/markdown.ts';

const routes = new Map([
  ['guide.md', '/docs/guide'],
  ['decisions/1.md', '/docs/first-decision'],
]);
const parse = (markdown: string, file = 'page.md') => parseMarkdown({ file, markdown }, routes);
const html = (markdown: string, file?: string) => parse(markdown, file).render();
const headings = (markdown: string) =>
  parse(markdown)
    .sections.slice(1)
    .map(({ id, heading, level }) => ({ id, heading, level }));
/** The text without mark-up. */
const textOf = (markup: string) =>
  markup
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&#x3C;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('&#x26;', '&');

for (const word of ['NOTE', 'TIP', 'IMPORTANT', 'WARNING', 'CAUTION', 'note']) {
  test(`[!${word}] is a callout`, (t) => {
    const name = word.charAt(0) + word.slice(1).toLowerCase();
    const shown = html(`> [!${word}]\n> Read **this**.`);
    t.regex(
      shown,
      new RegExp(`<div class="callout ${word.toLowerCase()}" role="note" aria-label="${name}"`, 'i'),
    );
    t.true(shown.includes('<p>Read <strong>this</strong>.</p>\n</div>'));
    t.false(shown.includes('[!'));
  });
}

test('callouts hold lists, code and callouts', (t) => {
  const shown = html('> [!NOTE]\n> - one\n>\n> ```sh\n> ls\n> ```\n>\n> > [!TIP]\n> > inner\n\nafter');
  t.deepEqual(shown.match(/class="(?:callout \w+|code)"|<ul>|<\/div>|after/g), [
    'class="callout note"',
    '<ul>',
    'class="code"',
    'class="callout tip"',
    '</div>',
    '</div>',
    'after',
  ]);
});

for (const quotation of [
  '> [!NOTE] with a title',
  '> [!DANGER]\n> x',
  '> [!constructor]\n> x',
  '> [!__proto__]\n> x',
  '> text\n> [!NOTE]',
  '> `[!NOTE]`',
])
  test(`no callout: ${JSON.stringify(quotation)}`, (t) => {
    const shown = html(quotation);
    t.true(shown.startsWith('<blockquote>'));
    t.true(shown.includes('[!'));
  });

test('task lists', (t) => {
  const shown = html('- [x] done `x`\n- [ ] to do\n- [?] neither\n- plain');
  t.is(shown.match(/<input type="checkbox" disabled checked aria-label="done"> done/g)?.length, 1);
  t.is(shown.match(/<input type="checkbox" disabled aria-label="to do"> to do/g)?.length, 1);
  t.is(shown.match(/<li class="task">/g)?.length, 2);
  t.true(shown.includes('<li>[?] neither</li>'));
});

test('tables scroll in their own container, and align by class instead of style', (t) => {
  const shown = html('|a|b|\n|:-:|--:|\n|1|2|');
  t.regex(shown, /^<div class="table"[^>]* tabindex="0">\n<table>/);
  t.true(shown.includes('<th class="center">a</th>') && shown.includes('<td class="right">2</td>'));
  t.false(shown.includes('style='));
});

test('headings have the ids that GitHub gives them; a repeated id gets a number', (t) => {
  const markdown = '# Title\n\n## POST `/x` & more\n\n## Same\n\n### Same\n\n## Zahlung für 支付';
  const shown = html(markdown);
  t.deepEqual(headings(markdown), [
    { id: 'post-x--more', heading: 'POST /x & more', level: 2 },
    { id: 'same', heading: 'Same', level: 2 },
    { id: 'same-1', heading: 'Same', level: 3 },
    { id: 'zahlung-für-支付', heading: 'Zahlung für 支付', level: 2 },
  ]);
  t.true(shown.includes('<h3 id="same-1">Same</h3><a class="anchor" href="#same-1">'));
  t.false(shown.includes('<h1'), 'pages show their title themselves');
});

test('code is highlighted by classes, and its text is exactly the source', (t) => {
  const source = 'const a = `<b>&amp;` + $1;\n\n\tif (a) {}  \n  // end';
  for (const language of ['ts', 'php', 'sh', 'no-such-language', '']) {
    const shown = html(`\`\`\`${language}\n${source}\n\`\`\``);
    t.is(textOf(/<code>(.*)<\/code>/s.exec(shown)?.[1] ?? ''), source, language);
    t.false(shown.includes('style='));
  }
});

test('code has a title and highlighted lines', (t) => {
  const shown = html('```ts title="src/a <b>.ts" {1,3-4}\none\ntwo\nthree\nfour\n```');
  t.true(shown.includes('<figcaption>src/a &lt;b&gt;.ts</figcaption>'));
  t.is(shown.match(/class="highlighted"/g)?.length, 3);
});

test('each line of a comment or a text of several lines can be highlighted', (t) => {
  const shown = html('```ts {2}\n/* one\n   two\n   three */\n```');
  t.true(shown.includes('\n<span class="highlighted"><span class="hljs-comment">   two</span></span>\n'));
});

test('mermaid stays source until it is drawn', (t) => {
  t.is(
    html('```mermaid\nflowchart LR\n  a --> b["<i>"]\n```'),
    '<figure class="diagram"><pre tabindex="0"><code>flowchart LR\n  a --&gt; b[&quot;&lt;i&gt;&quot;]</code></pre></figure>\n',
  );
});

test('a heading of punctuation alone can be linked to', (t) => {
  t.deepEqual(
    headings('## ???\n\n## !').map(({ id }) => id),
    ['section', 'section-1'],
  );
});

test('links between files lead to pages; links to other files become plain text', (t) => {
  const folder = 'decisions/2.md';
  t.true(html('[x](1.md#why)', folder).includes('<a href="/docs/first-decision#why">x</a>'));
  t.true(html('[x](../guide.md)', folder).includes('<a href="/docs/guide">x</a>'));
  t.true(
    html('[x](#here) [y](/reference) [z](https://a.example/b.md)').includes(
      '<a href="#here">x</a> <a href="/reference">y</a> <a href="https://a.example/b.md">z</a>',
    ),
  );
  t.is(
    html('See [the **file**](../../.env) and [guide](guide.md).'),
    '<p>See the <strong>file</strong> and <a href="/docs/guide">guide</a>.</p>\n',
  );
  t.is(html('running.md and a@b.example stay text'), '<p>running.md and a@b.example stay text</p>\n');
});

const attack = '<img src=x onerror=alert(1)><script>alert(1)</script>';
for (const [place, markdown] of Object.entries({
  paragraph: attack,
  block: `<div onclick=alert(1)>\n\n${attack}`,
  heading: `## ${attack}`,
  'table cell': `|a|\n|-|\n|${attack}|`,
  'code fence': `\`\`\`html\n${attack}\n\`\`\``,
  'indented code': `    ${attack}`,
  'language of a fence': `\`\`\`"><script>alert(1)</script>\nx\n\`\`\``,
  'title of a fence': `\`\`\`sh title="${attack}"\nx\n\`\`\``,
  'callout title': `> [!NOTE] ${attack}\n> x`,
  callout: `> [!NOTE]\n> ${attack}`,
  task: `- [x] ${attack}`,
  mermaid: `\`\`\`mermaid\nflowchart LR\n a["${attack}"]\n\`\`\``,
  'link title': `[x](https://a.example '"><script>alert(1)</script>')`,
  'picture text': `![${attack.replaceAll('[', '')}](https://a.example/x.png)`,
}))
  test(`mark-up stays text: ${place}`, (t) => {
    const shown = html(markdown);
    t.notRegex(shown, /<(?:script|div onclick)|<img src=x/);
    t.notRegex(shown, /<[^>"]*(?:"[^"]*"[^>"]*)*\son\w+=/);
  });

for (const address of [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'vbscript:x',
  'data:text/html,x',
  'java&#10;script:alert(1)',
])
  test(`no link: ${address}`, (t) => {
    t.notRegex(html(`[x](${address}) <${address}>`), /href="(?:java|vb|data)/i);
  });

test('text for the search is cut at headings, without mark-up', (t) => {
  t.deepEqual(
    parse(
      '# T\n\nIntro *x*.\n\n## One `a`\n\nText\n\n- item\n\n|h|\n|-|\n|cell|\n\n```sh\nls -l\n```\n\n## Two',
    ).sections,
    [
      { id: '', heading: '', level: 0, text: 'Intro x.', code: '' },
      { id: 'one-a', heading: 'One a', level: 2, text: 'Text item h cell', code: 'ls -l' },
      { id: 'two', heading: 'Two', level: 2, text: '', code: '' },
    ],
  );
});
