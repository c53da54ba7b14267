// What all tests of the pages look at: the project's own documentation, and one that has each part of a page.
import { wholeFile } from '../support/whole-file.ts';
import { contentFolder, serveDocs } from './serve.ts';

export const ownContent = await serveDocs(wholeFile);

export const code = 'const a = `<b>`;\n\n\tif (a) {}  \n// end';
const everything = [
  '---\ntitle: Everything\ndescription: One of each\ncategory: Guides\ntags: [one]\n---',
  '> [!NOTE]\n> Note with a [link](other.md)\n>\n> > [!TIP]\n> > Tip',
  ...['IMPORTANT', 'WARNING', 'CAUTION'].map((word) => `> [!${word}]\n> Text and \`code\``),
  '> A quotation',
  '## Tasks\n\n- [x] done\n- [ ] to do',
  `## Code\n\n\`\`\`ts title="a.ts" {1,3}\n${code}\n\`\`\``,
  '### Diagrams\n\n```mermaid\nflowchart LR\n  a[Payer] --> b[Gateway]\n```\n\n```mermaid\nno diagram\n```',
  '## Tables\n\n|a|b|\n|-|--:|\n|x|1.00|',
  ...Array.from({ length: 20 }, (_, index) => `## Part ${index}\n\n${'Words and words. '.repeat(40)}`),
].join('\n\n');
/** The same without what takes long to draw. */
const plain = everything
  .replace('title: Everything', 'title: Plain')
  .replace(/### Diagrams.*(?=## Tables)/s, '');
const other = '---\ntitle: Callbacks\n---\n\nWhat is sent.\n\n## Retries\n\nAgain and again.\n';

/** With these pages alone. */
export const base = await serveDocs(wholeFile, {
  folder: await contentFolder(wholeFile, {
    'everything.md': everything,
    'plain.md': plain,
    'other.md': other,
  }),
});
