// Reads a PDF back, with poppler's tools where they are installed and by its plain parts where they are not.
import { spawnSync } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import { receiptPdf } from '../../src/receipts/pdf.ts';
import type { Receipt } from '../../src/receipts/receipt.ts';
import type { Language } from '../../src/receipts/texts.ts';

export const verifyUrl = 'https://pay.example/verify/7-20261120-HE7CEVBBN545JZX2?c=3KQ8Z1M0T7XW2V9N';

export async function pdfOf(receipt: Receipt, lang: Language = 'en', url = verifyUrl): Promise<Buffer> {
  return buffer(receiptPdf(receipt, { lang, verifyUrl: receipt.isOfficial ? url : '' }));
}

/** Dictionaries are not compressed: each byte is a character. */
export const plainParts = (pdf: Buffer) => pdf.toString('latin1');
export const pagesOf = (pdf: Buffer) => plainParts(pdf).match(/\/Type \/Page\n/g)?.length;

export const hasPoppler = spawnSync('pdftotext', ['-v']).error === undefined;

/** What a reader sees, white space as single spaces. Throws when poppler finds any fault in the file. */
export function textOf(pdf: Buffer): string {
  const { stdout, stderr } = spawnSync('pdftotext', ['-raw', '-enc', 'UTF-8', '-', '-'], { input: pdf });
  if (stderr.length > 0) throw new Error(stderr.toString());
  // Directions are marked around right-to-left text.
  return stdout
    .toString()
    .replace(/[\u202a-\u202e]/g, '')
    .replace(/\s+/g, ' ');
}
