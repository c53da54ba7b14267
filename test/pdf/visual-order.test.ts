import test from 'ava';
import { visualOrderOf } from '../../packages/pdf/visual-order.ts';

const seen = (paragraph: string, start = 0, end = paragraph.length) =>
  visualOrderOf(paragraph)(start, end).map(({ text, isRightToLeft }) => (isRightToLeft ? `<${text}` : text));

const cases: [string, string, string[]][] = [
  ['left to right is one run', 'Tan 123 (x)', ['Tan 123 (x)']],
  ['right to left is one run, in the order of reading', 'محمد بن علي', ['<محمد بن علي']],
  ['a name within a sentence', 'Tan محمد end', ['Tan ', '<محمد', ' end']],
  ['a sentence that begins right to left', 'محمد Tan', ['Tan', '<محمد ']],
  ['digits keep their order', 'محمد 123', ['123', '<محمد ']],
  ['brackets face the right way', 'a محمد (علي) b', ['a ', '<محمد )علي(', ' b']],
  ['characters of two code units stay whole', 'محمد 𠀀𠀁', ['𠀀𠀁', '<محمد ']],
];

for (const [what, text, runs] of cases) {
  test(what, (t) => {
    t.deepEqual(seen(text), runs);
  });
}

test('a line holds only its own text', (t) => {
  t.deepEqual(seen('محمد بن علي', 0, 4), ['<محمد']);
  t.deepEqual(seen('محمد بن علي', 8, 11), ['<علي']);
  t.deepEqual(seen('Tan محمد end', 4, 12), ['<محمد', ' end']);
});
