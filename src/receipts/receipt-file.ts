/** A receipt as a file, the same from the download as in the email. */

import { verificationKey, verificationUrl } from './check-code.ts';
import { receiptPdf } from './pdf.ts';
import type { Receipt } from './receipt.ts';
import { type Language, texts } from './texts.ts';

/** Makes the function that gives the PDF, with the address that confirms it, and a file name that is safe in a header. */
export function createReceiptFiles({
  baseUrl,
  transactionIdKey,
}: {
  baseUrl: string;
  transactionIdKey: string;
}) {
  const key = verificationKey(transactionIdKey);
  return (receipt: Receipt, lang: Language): { name: string; pdf: NodeJS.ReadableStream } => {
    const verifyUrl = receipt.isOfficial ? verificationUrl(baseUrl, key, receipt) : '';
    return { name: fileName(receipt, lang), pdf: receiptPdf(receipt, { lang, verifyUrl }) };
  };
}

function fileName({ isOfficial, receiptNo, reference }: Receipt, lang: Language): string {
  const words = texts[lang].receipt;
  const name = isOfficial ? `${words.official} ${receiptNo}` : `${words.statement} ${reference}`;
  const parts = name.match(/[A-Za-z0-9]+/g) ?? [];
  return `${parts.join('-').slice(0, 100)}.pdf`;
}
