// Files of any content: every row is read or reported, and none is lost silently.
import { Readable } from 'node:stream';
import { type CsvRow, readCsv } from '@ledger/kernel/csv-rows.ts';
import test from 'ava';
import fc from 'fast-check';

const withoutText = (row: CsvRow) => ('cells' in row ? row : { line: row.line, fault: row.fault });

async function read(file: string | Uint8Array) {
  const rows: ReturnType<typeof withoutText>[] = [];
  for await (const row of readCsv(Readable.from([Buffer.from(file)]))) rows.push(withoutText(row));
  return rows;
}

const fault = 'has quotes that do not match, or is too long';
const files: [string, string | Uint8Array, unknown][] = [
  [
    'BOM, CRLF and quotes',
    '\ufeffa,b\r\n"1, ""x""",2\r\n',
    [
      { line: 1, cells: ['a', 'b'] },
      { line: 2, cells: ['1, "x"', '2'] },
    ],
  ],
  [
    'CR alone, as older programs for the Mac end lines',
    'a,b\r\r1,"x\ny"\r3,4\r',
    [
      { line: 1, cells: ['a', 'b'] },
      { line: 3, cells: ['1', 'x\ny'] },
      { line: 4, cells: ['3', '4'] },
    ],
  ],
  [
    'CR in a cell, and twice at the end of a line',
    'a,b\r\r\n1,x\ry\r\r\n"2",x\ry\r\n',
    [
      { line: 1, cells: ['a', 'b\r'] },
      { line: 2, cells: ['1', 'x\ry\r'] },
      { line: 3, cells: ['2', 'x\ry'] },
    ],
  ],
  [
    'a line break in a cell of the first line',
    '"a\rb",c\r\n1,2\r\n',
    [
      { line: 1, cells: ['a\rb', 'c'] },
      { line: 2, cells: ['1', '2'] },
    ],
  ],
  [
    'a first line that is too long',
    `${'a,'.repeat(16_384)}b,c\n1,2\n`,
    [
      { line: 1, fault },
      { line: 2, cells: ['1', '2'] },
    ],
  ],
  [
    'a row that is too long over its lines',
    `a,b\n"${'x'.repeat(9_000)}\n${'y'.repeat(9_000)}",3\n4,5\n`,
    [
      { line: 1, cells: ['a', 'b'] },
      { line: 2, fault },
      { line: 3, fault },
      { line: 4, cells: ['4', '5'] },
    ],
  ],
  [
    'semicolons',
    'a;b\n"1;2";x,y',
    [
      { line: 1, cells: ['a', 'b'] },
      { line: 2, cells: ['1;2', 'x,y'] },
    ],
  ],
  [
    'a line break in a cell',
    'a,b\n"1\n2",3\n4,5\n',
    [
      { line: 1, cells: ['a', 'b'] },
      { line: 2, cells: ['1\n2', '3'] },
      { line: 4, cells: ['4', '5'] },
    ],
  ],
  [
    'a quote that is not closed',
    'a,b\n"1,2\n3,4\n',
    [
      { line: 1, cells: ['a', 'b'] },
      { line: 2, fault },
      { line: 3, cells: ['3', '4'] },
    ],
  ],
  [
    'a quote that is not closed in the first line',
    '"a,b\n1,2\n3,4\n',
    [
      { line: 1, fault },
      { line: 2, cells: ['1', '2'] },
      { line: 3, cells: ['3', '4'] },
    ],
  ],
  [
    'a quote within',
    'a,b\n1"1,2\n3,4\n',
    [
      { line: 1, cells: ['a', 'b'] },
      { line: 2, fault },
      { line: 3, cells: ['3', '4'] },
    ],
  ],
  [
    'quotes within on two lines, which cost only their own',
    'a,b\n1"1,2\n3,4\n5"5,6\n7,8\n',
    [
      { line: 1, cells: ['a', 'b'] },
      { line: 2, fault },
      { line: 3, cells: ['3', '4'] },
      { line: 4, fault },
      { line: 5, cells: ['7', '8'] },
    ],
  ],
  [
    'blank lines',
    '\n\na;b\n\n1;2\n',
    [
      { line: 3, cells: ['a', 'b'] },
      { line: 5, cells: ['1', '2'] },
    ],
  ],
  [
    'a cell without end',
    `a\n${'x'.repeat(100_000)}\n1`,
    [
      { line: 1, cells: ['a'] },
      { line: 2, fault },
      { line: 3, cells: ['1'] },
    ],
  ],
  [
    'bytes that are no UTF-8',
    Uint8Array.of(97, 10, 0xe9, 10),
    [
      { line: 1, cells: ['a'] },
      { line: 2, cells: ['\ufffd'] },
    ],
  ],
  ['nothing', '', []],
];

for (const [name, file, rows] of files)
  test(`rows: ${name}`, async (t) => {
    t.deepEqual<unknown, unknown>(await read(file), rows);
    const fromPieces: ReturnType<typeof withoutText>[] = [];
    const bytes = Buffer.from(file);
    // A long file in a thousand pieces, because each of them takes a turn.
    const size = Math.ceil(bytes.length / 1_000);
    const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => index * size);
    const inPieces = Readable.from(starts.map((start) => bytes.subarray(start, start + size)));
    for await (const row of readCsv(inPieces)) fromPieces.push(withoutText(row));
    t.deepEqual<unknown, unknown>(fromPieces, rows, 'one byte at a time, if it is short');
  });

test('every line has its row or its fault, whatever the other lines hold', async (t) => {
  const anything = fc.array(fc.string({ unit: fc.constantFrom('"', ',', 'a', '\r', '\0', 'é') }), {
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(anything, async (before) => {
      const rows = await read(['a,b', ...before, ...Array(12).fill('1,2'), '3,4'].join('\n'));
      t.deepEqual(rows.at(-1), { line: before.length + 14, cells: ['3', '4'] });
      const spoken = new Set(rows.map(({ line }) => line));
      for (const [index, text] of before.entries())
        if (
          !text.includes('"') &&
          text.trim() !== '' &&
          !before.slice(0, index).some((each) => each.includes('"'))
        )
          t.true(spoken.has(index + 2));
    }),
  );
});
