import { spawnSync } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import test from 'ava';
import PDFDocument from 'pdfkit';
import { encode } from 'uqr';
import { drawQrCode } from '../../packages/pdf/figures.ts';
import { hasPoppler, verifyUrl } from '../receipts/pdf-reader.ts';

const drawing = hasPoppler ? test : test.skip;

drawing('the QR code on paper is that of the address, module by module', async (t) => {
  const { data, size } = encode(verifyUrl, { ecc: 'M', border: 0 });
  const dotsPerModule = 8;
  const doc = new PDFDocument({ size: [size, size], margin: 0, font: '' });
  drawQrCode(doc, verifyUrl, 0, 0, size);
  doc.end();
  const options = ['-gray', '-r', String(72 * dotsPerModule), '-'];
  const { stdout } = spawnSync('pdftoppm', options, { input: await buffer(doc), maxBuffer: 10_000_000 });
  // A PGM file: a header of three lines, then a byte for each dot, row by row.
  const width = size * dotsPerModule;
  const dots = stdout.subarray(stdout.length - width * width);
  t.true(stdout.toString('latin1').startsWith(`P5\n${width} ${width}\n255\n`));
  for (const [row, modules] of data.entries()) {
    for (const [column, isDark] of modules.entries()) {
      const dot = (row + 0.5) * dotsPerModule * width + (column + 0.5) * dotsPerModule;
      t.is((dots[dot] ?? 255) < 128, isDark, `row ${row}, column ${column}`);
    }
  }
});
