import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import test from 'ava';
import { readDocsFiles as readContent } from '../../packages/docs-site/files.ts';
import { contentFolder } from './serve.ts';

const readDocsFiles = (folder: string) =>
  readContent({
    folder,
    folderName: 'content/docs',
    categories: ['Getting started', 'Decisions'],
    addresses: { 'http://localhost:5173': 'https://pay.example' },
    generated: [],
  });

test('pages are ordered by category, order and title', async (t) => {
  const folder = await contentFolder(t, {
    'b.md': '---\ntitle: B\ncategory: Zoo\n---\n',
    'a.md': '---\ntitle: A\ncategory: Zoo\n---\n',
    'z.md': '---\ntitle: Z\ncategory: Zoo\norder: -1\n---\n',
    'decisions/10.md': '---\ntitle: 10. Ten\n---\n',
    'decisions/9.md': '---\ntitle: 9. Nine\n---\n',
    'ant-hill/x.md': '---\ntitle: X\n---\n',
    'start.md': '---\ntitle: Start\ncategory: Getting started\norder: 99\n---\n',
    'plain.md': '---\ntitle: Plain\n---\n',
  });
  t.deepEqual(
    readDocsFiles(folder).map(({ category, slug }) => `${category}: ${slug}`),
    [
      'Getting started: start',
      'Decisions: decisions/9',
      'Decisions: decisions/10',
      'Ant hill: ant-hill/x',
      'General: plain',
      'Zoo: z',
      'Zoo: a',
      'Zoo: b',
    ],
  );
});

test('all faults are reported at once, each with its file and key', async (t) => {
  const folder = await contentFolder(t, {
    'no-matter.md': '```sh\n# Hello\n```\n',
    'blank.md': '---\ntitle: "  "\n---\n',
    'number.md': '---\ntitle: 7\norder: first\ntags: one\n---\n',
    'unknown.md': '---\ntitle: U\nlayout: wide\n---\n',
    'escape.md': '---\ntitle: E\nslug: ../../etc/passwd\n---\n',
    'taken.md': '---\ntitle: T\nslug: assets/docs\n---\n',
    'Upper Case.md': '---\ntitle: U\n---\n',
    'script.md': '---js\n{ title: process.exit() }\n---\n',
    'broken.md': '---\ntitle: [\n---\n',
    'one.md': '---\ntitle: One\nslug: same\n---\n',
    'same.md': '---\ntitle: Two\n---\n',
  });
  const error = t.throws(() => readDocsFiles(folder), { instanceOf: ConfigError });
  const faults = error.faults.map((fault) => fault.replace(/(broken\.md cannot be read).*/, '$1'));
  t.deepEqual(faults.toSorted(), [
    'content/docs/Upper Case.md: slug is missing, and the file name is not a valid lower-case address',
    'content/docs/blank.md: title is not valid (pattern)',
    'content/docs/broken.md cannot be read',
    'content/docs/escape.md: slug is not valid (pattern)',
    'content/docs/no-matter.md: title is missing, and there is no heading',
    'content/docs/number.md: order is not valid (number)',
    'content/docs/number.md: tags is not valid (array)',
    'content/docs/number.md: title is not valid (string)',
    'content/docs/same.md: slug same is also the slug of one.md',
    'content/docs/script.md: title is missing, and there is no heading',
    'content/docs/taken.md: slug is not valid (/docs/assets/docs is taken)',
    'content/docs/unknown.md: layout is not a known key',
  ]);
});

test('a file written on Windows reads like any other', async (t) => {
  const folder = await contentFolder(t, { 'x.md': '\uFEFF---\r\ntitle: X\r\n---\r\n# X\r\n\r\nText\r\n' });
  t.like(readDocsFiles(folder)[0], { title: 'X', markdown: '# X\n\nText\n' });
});

test('a horizontal rule within the text is not front matter', async (t) => {
  const folder = await contentFolder(t, { 'x.md': '---\ntitle: X\n---\nText\n\n---\n\nMore\n' });
  t.is(readDocsFiles(folder)[0]?.markdown, 'Text\n\n---\n\nMore\n');
});

test('without front matter, or without a title in it, the first heading is the title', async (t) => {
  const folder = await contentFolder(t, {
    'plain.md': '```sh\n# a comment\n```\n\n## The `x` of *it*\n\n# Later\n',
    'matter.md': '---\norder: 1\n---\n# Heading\n',
    'both.md': '---\ntitle: Title\n---\n# Heading\n',
    'under.md': 'Underlined\n===\n',
  });
  const titles = Object.fromEntries(readDocsFiles(folder).map(({ file, title }) => [file, title]));
  t.deepEqual(titles, {
    'plain.md': 'The x of it',
    'matter.md': 'Heading',
    'both.md': 'Title',
    'under.md': 'Underlined',
  });
});

test('the address of the service in an example is where the reader is', async (t) => {
  const folder = await contentFolder(t, { 'x.md': '# X\n\n`curl http://localhost:5173/generic/check`\n' });
  t.regex(readDocsFiles(folder)[0]?.source ?? '', /`curl https:\/\/pay\.example\/generic\/check`/);
});
