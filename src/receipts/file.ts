/** A receipt's PDF as a file: its name, and the address that confirms it. */
import type { LinkKeys } from '../common/link-keys.ts';
import { verificationKeys, verificationUrl } from './check-code.ts';
import type { Receipt } from './receipt.ts';
import { headingOf, type Language } from './texts.ts';

/** `verifyUrl` as `receiptPdf` takes it. */
export type Printed = { lang: Language; verifyUrl: string };

/** Rejects if the document could not be drawn this time. */
export type DrawReceipt = (receipt: Receipt, printed: Printed) => Promise<Buffer>;

/** The name is safe in a header. */
export function createReceiptFiles(
  config: { baseUrl: string; linkKeys: LinkKeys },
  drawReceipt: DrawReceipt,
) {
  const keys = verificationKeys(config.linkKeys);
  return (receipt: Receipt, lang: Language) => {
    const { isOfficial, receiptNo, reference } = receipt;
    const verifyUrl = isOfficial ? verificationUrl(config.baseUrl, keys, receipt) : '';
    const title = `${headingOf(receipt, lang)} ${isOfficial ? receiptNo : reference}`;
    const parts = title.match(/[A-Za-z0-9]+/g) ?? [];
    return {
      name: `${parts.join('-').slice(0, 100)}.pdf`,
      pdf: drawReceipt(receipt, { lang, verifyUrl }),
    };
  };
}
