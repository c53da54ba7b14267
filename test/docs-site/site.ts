import { readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import test from 'ava';
import { createSite } from '../../packages/docs-site/site.ts';
import { siteOf } from '../../src/http/docs.ts';
import { testRuntime } from '../support/runtime.ts';
import { contentFolder, docsConfig, serveDocs, smallDescription } from './serve.ts';
import { base, ownContent } from './served.ts';

const attack = '<script>alert("1")</script>';
const page = (title: string, text = '', matter = '') =>
  `---\ntitle: ${title}\n${matter}---\n\n# ${title}\n\n${text}\n`;

/** Sends the path unchanged. fetch would normalise it, and would send Cache-Control of its own. */
const statusOf = (base: string, path: string, headers = {}) =>
  new Promise<number | undefined>((resolve, reject) => {
    const { hostname, port } = new URL(base);
    request({ hostname, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });

test('a page has its place: title, description, previous and next, table of contents', async (t) => {
  const folder = await contentFolder(t, {
    'a.md': page('First', '', 'order: 1\n'),
    'b.md': page('Second', '## Part\n\n### Smaller\n\n#### Smallest', 'order: 2\ndescription: About it\n'),
    'c.md': page('Third', '', 'order: 3\nslug: deep/third\n'),
  });
  const base = await serveDocs(t, { folder });
  const html = await (await fetch(`${base}/docs/b`)).text();
  t.is(html.match(/<h1>Second<\/h1>/g)?.length, 1);
  t.true(html.includes('<meta name="description" content="About it">'));
  t.true(html.includes('<link rel="canonical" href="https://pay.example/docs/b">'));
  t.true(html.includes('<a href="/docs/b" aria-current="page">Second</a>'));
  t.regex(html, /<a rel="prev" href="\/docs\/a">.*First<\/a>/);
  t.regex(html, /<a rel="next" href="\/docs\/deep\/third">.*Third<\/a>/);
  t.deepEqual(html.match(/<li class="level-\d"><a href="[^"]*"/g), [
    '<li class="level-2"><a href="#part"',
    '<li class="level-3"><a href="#smaller"',
  ]);
  const first = await (await fetch(`${base}/docs/a`)).text();
  t.false(first.includes('rel="prev"'));
});

test('a page that the reader already has is not sent again; other answers are compressed on request', async (t) => {
  const plain = await fetch(`${base}/docs/plain`, { headers: { 'accept-encoding': 'identity' } });
  const packed = await fetch(`${base}/docs/plain`, { headers: { 'accept-encoding': 'br, gzip' } });
  t.is(plain.headers.get('content-encoding'), null);
  t.is(packed.headers.get('content-encoding'), 'gzip');
  t.is(packed.headers.get('vary'), 'Accept-Encoding');
  t.is(await packed.text(), await plain.text());
  const etag = plain.headers.get('etag') ?? '';
  t.is(await statusOf(base, '/docs/plain', { 'if-none-match': etag }), 304);
  t.is(await statusOf(base, '/docs', { 'if-none-match': etag }), 200);
});

test('pages load nothing from other hosts, and search engines may index them', async (t) => {
  const answer = await fetch(`${base}/docs/plain`);
  const policy = answer.headers.get('content-security-policy') ?? '';
  t.true(policy.startsWith("default-src 'none'; script-src 'self' 'sha256-"));
  t.true(policy.includes("style-src 'self';"));
  t.false(policy.includes('unsafe'));
  t.is(answer.headers.get('x-robots-tag'), null);
  t.is(answer.headers.get('strict-transport-security'), 'max-age=31536000');
  const html = await answer.text();
  t.notRegex(html, /(?:src|href)="(?:https?:)?\/\/(?!pay\.example)/, 'no other host');
  t.is((await fetch(`${base}/docs/nothing`)).headers.get('x-robots-tag'), 'noindex');
});

test('styles and scripts are cached for good, under names that change with their content', async (t) => {
  const html = await (await fetch(`${base}/docs/plain`)).text();
  const paths = html.match(/\/docs\/assets\/[\w.-]+/g) ?? [];
  t.is(new Set(paths).size, 3);
  for (const path of paths) {
    const asset = await fetch(base + path);
    t.is(asset.status, 200, path);
    t.is(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  }
});

test('no part of an address becomes a file name', async (t) => {
  const base = ownContent;
  for (const path of [
    '/docs/../package.json',
    '/docs/..%2f..%2fpackage.json',
    '/docs/%2e%2e/%2e%2e/package.json',
    '/docs/decisions',
    '/docs/decisions/',
    '/docs/assets/docs.css',
    '/docs/assets/..%2ftheme.js',
    '/docs/architecture.md%00',
    '/docs/architecture//',
    '/docs//',
    '/docs//architecture',
    '/docs/%E0%A4%A',
    '/docs/__proto__',
    '/docs/constructor.md',
    `/docs/${'a/'.repeat(4000)}`,
  ])
    t.is(await statusOf(base, path), 404, path);
});

test('an address with a trailing slash redirects to the one without', async (t) => {
  const base = ownContent;
  for (const path of ['/docs', '/docs/architecture', '/docs/decisions/0001-event-store', '/reference']) {
    const { status, headers } = await fetch(`${base}${path}/`, { redirect: 'manual' });
    t.deepEqual([status, headers.get('location')], [308, path]);
  }
});

test('an unknown page says so and offers the search', async (t) => {
  const base = ownContent;
  const answer = await fetch(`${base}/docs/no-such-page`);
  t.is(answer.status, 404);
  const html = await answer.text();
  t.true(html.includes('<h1>Page not found</h1>') && html.includes('action="/docs/search"'));
});

test('programs find each page as markdown, an index of all pages, and a sitemap', async (t) => {
  const folder = await contentFolder(t, {
    'a.md': page('"A [b] & c"', '', 'description: Says & does\n'),
    'decisions/1.md': page('One'),
  });
  const base = await serveDocs(t, { folder });
  const markdown = await fetch(`${base}/docs/a.md`);
  t.is(markdown.headers.get('content-type'), 'text/markdown; charset=utf-8');
  t.is(await markdown.text(), await readFile(join(folder, 'a.md'), 'utf8'));
  const index = await (await fetch(`${base}/llms.txt`)).text();
  t.is(await (await fetch(`${base}/docs.md`)).text(), index);
  t.is(
    index,
    [
      '# Payment ledger',
      '',
      '> An event-sourced payment ledger that public agencies put in front of their payment gateway.',
      '',
      '## API',
      '',
      '- [OpenAPI document](https://pay.example/openapi.json): every endpoint, as OpenAPI 3.1',
      '- [API reference](https://pay.example/reference.md): the same as text',
      '',
      '## Decisions',
      '',
      '- [One](https://pay.example/docs/decisions/1.md)',
      '',
      '## General',
      '',
      '- [A \\[b\\] & c](https://pay.example/docs/a.md): Says & does',
      '',
    ].join('\n'),
  );
  const sitemap = await fetch(`${base}/sitemap.xml`);
  t.is(sitemap.headers.get('content-type'), 'application/xml');
  t.deepEqual((await sitemap.text()).match(/(?<=<loc>).*?(?=<\/loc>)/g), [
    'https://pay.example/docs',
    'https://pay.example/reference',
    'https://pay.example/docs/decisions/1',
    'https://pay.example/docs/a',
  ]);
});

const hitsOf = async (base: string, query: string) => {
  const html = await (await fetch(`${base}/docs/search?q=${encodeURIComponent(query)}`)).text();
  return { html, urls: html.match(/(?<=<li><a href=")[^"]*(?="><b>)/g) ?? [] };
};

test('the search tolerates typing errors, matches beginnings of words, and finds headings', async (t) => {
  const folder = await contentFolder(t, {
    'callbacks.md': page('Callbacks', 'What is sent.\n\n## Retries\n\nAfter five seconds, again.'),
    'states.md': page('Payment states', 'A table of results.', 'tags: [lifecycle]\n'),
  });
  const base = await serveDocs(t, { folder });
  t.is((await hitsOf(base, 'calback')).urls[0], '/docs/callbacks');
  t.is((await hitsOf(base, 'retrys')).urls[0], '/docs/callbacks#retries');
  t.is((await hitsOf(base, 'pay')).urls[0], '/docs/states');
  t.deepEqual((await hitsOf(base, 'p r s')).urls, [], 'a letter alone is the beginning of too many words');
  t.deepEqual((await hitsOf(base, 'ca')).urls, [], 'and so are two');
  t.is((await hitsOf(base, 'q.v.w.x.y.z.j.callbacks')).urls[0], '/docs/callbacks');
  t.deepEqual((await hitsOf(base, 'q.v.w.x.y.z.j.k.callbacks')).urls, [], 'the ninth word is not looked for');
  t.is((await hitsOf(base, 'lifecycle')).urls[0], '/docs/states');
  const { html } = await hitsOf(base, 'seconds');
  t.true(html.includes('After five <mark>seconds</mark>, again.'));
  t.true((await hitsOf(base, 'zebra')).html.includes('Nothing here matches “zebra”.'));
});

test('what is said about a word comes before the examples that use it', async (t) => {
  const folder = await contentFolder(t, {
    'a.md': page('Examples', '```sh\ncurl checksum checksum checksum\n```'),
    'b.md': page('Signatures', `${'Many words. '.repeat(200)} The checksum covers all fields.`),
  });
  const base = await serveDocs(t, { folder });
  const { html, urls } = await hitsOf(base, 'checksum');
  t.deepEqual(urls, ['/docs/b', '/docs/a']);
  t.true(html.includes('The <mark>checksum</mark> covers all fields.'));
  t.true(html.includes('curl <mark>checksum</mark>'));
});

test('search engines are told what they may read', async (t) => {
  const robots = await (await fetch(`${base}/robots.txt`)).text();
  t.regex(
    robots,
    /^User-agent: \*\nAllow: \/docs\n(?:Allow: \S+\n)+Disallow: \/\n\nSitemap: https:\/\/pay\.example\/sitemap\.xml\n$/,
  );
});

test('a misspelt word finds the callback pages of the project', async (t) => {
  const { urls } = await hitsOf(ownContent, 'calback');
  t.regex(urls[0] ?? '', /callback/);
});

test('any query gets an answer, and is shown as text', async (t) => {
  const base = await serveDocs(t, { folder: await contentFolder(t, { 'a.md': page('First', attack) }) });
  for (const query of [
    attack,
    '"><img src=x onerror=alert(1)>',
    '(((',
    '\\',
    '__proto__ constructor',
    '\u0000',
    '😀',
    'x '.repeat(1000),
  ]) {
    const { html } = await hitsOf(base, query);
    t.true(html.includes('<h1>Search</h1>'), query.slice(0, 20));
    t.notRegex(html, /<script>alert|<img/);
  }
  const several = await fetch(`${base}/docs/search?q=a&q=b`);
  t.is(several.status, 200);
});

test('mark-up in front matter is shown as text', async (t) => {
  const title = JSON.stringify(`A ${attack}`);
  const matter = `description: ${JSON.stringify(`"> ${attack}`)}\ncategory: ${title}\ntags: [${title}]\n`;
  const folder = await contentFolder(t, {
    'a.md': `---\ntitle: ${title}\n${matter}---\nText\n`,
    'b.md': page('B'),
  });
  const base = await serveDocs(t, { folder });
  for (const path of ['/docs', '/docs/a', '/docs/b', '/docs/search?q=alert', '/docs/nothing'])
    t.notRegex(await (await fetch(base + path)).text(), /<script>alert|"> ?<script/, path);
});

test('in development a change shows at the next request, and while a file has a fault the last good pages stay', async (t) => {
  const folder = await contentFolder(t, { 'a.md': page('First'), 'b.md': page('Other') });
  const base = await serveDocs(t, { folder, production: false });
  const titleOf = async () => /<h1>(.*)<\/h1>/.exec(await (await fetch(`${base}/docs/a`)).text())?.[1];
  const change = async (content: string, second: number) => {
    await writeFile(join(folder, 'a.md'), content);
    await utimes(join(folder, 'a.md'), second, second);
  };
  t.is(await titleOf(), 'First');
  await change(page('Changed'), 1);
  t.is(await titleOf(), 'Changed');
  await change('no front matter', 2);
  t.is(await titleOf(), 'Changed');
  await change(page('Corrected'), 3);
  t.is(await titleOf(), 'Corrected');
  await rm(join(folder, 'b.md'));
  t.is((await fetch(`${base}/docs/b`)).status, 404);
});

test('in development the folder is not checked for every request', async (t) => {
  const folder = await contentFolder(t, { 'a.md': page('First') });
  const base = await serveDocs(t, { folder, production: false, lookAgainMs: 600_000 });
  t.is((await fetch(`${base}/docs/a`)).status, 200);
  await writeFile(join(folder, 'b.md'), page('New'));
  t.is((await fetch(`${base}/docs/b`)).status, 404);
});

test('every link between our pages leads to an existing page and heading', async (t) => {
  const base = ownContent;
  const paths =
    (await (await fetch(`${base}/sitemap.xml`)).text()).match(/(?<=pay\.example).*?(?=<\/loc>)/g) ?? [];
  const ids = new Map<string, Set<string>>();
  const links: { from: string; to: string }[] = [];
  for (const path of paths) {
    const html = await (await fetch(base + path)).text();
    ids.set(path, new Set(html.match(/(?<= id=")[^"]+/g)));
    for (const [to] of html.matchAll(/(?<=<a [^>]*href=")[^"]+/g)) links.push({ from: path, to });
  }
  t.true(paths.length > 5);
  for (const { from, to } of links) {
    const [path = '', fragment] = new URL(to, `https://pay.example${from}`).href
      .replace('https://pay.example', '')
      .split('#');
    if (!path.startsWith('/docs') || path.startsWith('/docs/search') || path.endsWith('.md')) continue;
    t.true(ids.has(path), `${from} → ${to}`);
    if (fragment) t.true(ids.get(path)?.has(decodeURIComponent(fragment)), `${from} → ${to}`);
  }
});

test('the stylesheet has the colours of all code', async (t) => {
  const text = async (path: string) => (await fetch(ownContent + path)).text();
  const paths = (await text('/sitemap.xml')).match(/(?<=pay\.example).*?(?=<\/loc>)/g) ?? [];
  const pages = await Promise.all(paths.map(text));
  const [stylesheet = ''] = pages[0]?.match(/\/docs\/assets\/docs[\w.-]*\.css/) ?? [];
  const css = await text(stylesheet);
  const shown = pages.flatMap((html) =>
    Array.from(html.matchAll(/<span class="(hljs-[\w-]+)/g), ([, name]) => name),
  );
  t.true(shown.length > 1_000);
  t.deepEqual(
    [...new Set(shown)].filter((name) => !css.includes(`.${name}`)).sort(),
    ['hljs-function', 'hljs-operator', 'hljs-params', 'hljs-punctuation'],
    'these have the colour of the text',
  );
  const coloured = Array.from(css.matchAll(/\.(hljs-[\w-]+)/g), ([, name]) => name);
  t.deepEqual(
    coloured.filter((name) => !shown.includes(name)),
    [],
    'and of no other',
  );
});

test('while it is rendered, the process goes on with other work between two pages', async (t) => {
  const folder = await contentFolder(t, { 'a.md': page('First', 'a'), 'b.md': page('Second', 'b') });
  let pauses = 0;
  const yieldToIo = async () => {
    pauses += 1;
  };
  const runtime = testRuntime({ yieldToIo });
  const describe = () => smallDescription;
  await createSite({ ...siteOf(docsConfig(false)), folder, generated: [], describe, runtime });
  t.is(pauses, 4, 'each page is read, and rendered');
});

test('links to missing pages are faults, all reported at once', async (t) => {
  const folder = await contentFolder(t, {
    'a.md': page('First', '[b](b.md), [gone](gone.md#part) and [outside](../../README.md)'),
    'deep/b.md': page('Second', '[first](../a.md), [other](./other.md), [elsewhere](https://a.example/b.md)'),
  });
  const options = { ...siteOf(docsConfig(true)), folder, generated: [], runtime: testRuntime() };
  const error = await t.throwsAsync(createSite(options), { instanceOf: ConfigError });
  t.deepEqual(error.faults, [
    'content/docs/deep/b.md: the link ./other.md leads to no page',
    'content/docs/a.md: the link b.md leads to no page',
    'content/docs/a.md: the link gone.md#part leads to no page',
  ]);
});

test('the pages define every colour that diagrams use', async (t) => {
  const read = (name: string) =>
    readFile(new URL(`../../packages/docs-site/views/${name}`, import.meta.url), 'utf8');
  const css = await read('docs.css');
  const names = (await read('diagram.js')).match(/(?<=colour\(')[\w-]+/g) ?? [];
  t.true(names.length > 5);
  for (const name of names) t.true(css.includes(`var(--${name})`), name);
});

test('each command has a page with its options, and examples are where the reader is', async (t) => {
  const base = ownContent;
  const page = await (await fetch(`${base}/docs/commands/users.md`)).text();
  t.true(page.includes('npx ledger users add --email ADDRESS [--role admin|member|viewer] [--name NAME]'));
  t.true(page.includes("| `--email ADDRESS` | the user's email address |"));
  t.regex(page, /\| `--json` \| prints JSON: `list: \[\{ id, email/);
  const start = await (await fetch(`${base}/docs/getting-started.md`)).text();
  t.true(start.includes('curl -s https://pay.example/generic/request'));
  t.true(start.includes('https://sandbox.example/merchant/callback'));
  t.regex(await (await fetch(`${base}/docs/panduan-agensi`)).text(), /<article lang="ms">/);
  t.notRegex(start, /localhost:51/);
});

test('pages are kept apart by what a reader wants', async (t) => {
  const index = await (await fetch(`${ownContent}/docs`)).text();
  t.deepEqual(
    Array.from(index.matchAll(/<h2>([^<]*)<\/h2>\n<ul class="cards">/g), ([, name]) => name),
    ['Tutorials', 'How-to guides', 'Reference', 'Commands', 'Explanation', 'Decisions'],
  );
});
