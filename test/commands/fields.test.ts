// The note of staff: text of several lines, without characters that hide text or change its direction.
import test from 'ava';
import { is } from 'superstruct';
import { maxNoteLength, note } from '../../src/commands/fields.ts';

const good = [
  'Paid back on 21 November',
  'two\nlines',
  '<b>HTML & "quotes"</b>',
  'மலேசியா 馬來西亞 ماليزيا 😀',
  '😀'.repeat(maxNoteLength),
  '\u200b\n1',
];
const bad = [
  '',
  ' ',
  '\n',
  ' padded',
  'padded\n',
  'tab\tin between',
  'NUL \0 within',
  'bell\u0007',
  'escape \u001b[31m',
  'half a pair \ud800',
  'turned \u202e around',
  'isolated \u2066 too',
  '\u200b\n\u00ad\u3164',
  'x'.repeat(maxNoteLength + 1),
  1,
  null,
  undefined,
  ['text'],
];

for (const text of good) test(`a note: ${text.slice(0, 30)}`, (t) => t.true(is(text, note)));
for (const text of bad)
  test(`not a note: ${JSON.stringify(text)?.slice(0, 30)}`, (t) => t.false(is(text, note)));
