/** Addresses of a payment's pages. All are absolute: a merchant may relay a page from its own origin, and emails hold them. */
import type { Channel } from '../events/payment.ts';
import { createExpiringSignatures } from '../kernel/expiring-signature.ts';
import type { Language } from './texts.ts';

export type PaymentPageName = 'pay' | 'receipt' | 'download';

export type Links = Readonly<Record<PaymentPageName, (transactionId: string, lang?: Language) => string>> & {
  /** Where the gateway reports. */
  gatewayResult: string;
};

const hourMs = 3_600_000;
/** A page to pay on is for now, a receipt for as long as one is kept. */
const lifetimesMs: Readonly<Record<PaymentPageName, number>> = {
  pay: 24 * hourMs,
  receipt: 10 * 365 * 24 * hourMs,
  download: 10 * 365 * 24 * hourMs,
};

const signaturesOf = (transactionIdKey: string) => createExpiringSignatures(transactionIdKey, 'payment link');
const saidBy = (name: PaymentPageName, transactionId: string) => `${name}.${transactionId}`;

/**
 * Each channel's links. The land registry's carry a signature as `sig`, since a payer's browser can send no key; on the
 * generic channel the id alone opens the page.
 */
export function createLinks({
  baseUrl,
  transactionIdKey,
  clock,
}: {
  baseUrl: string;
  transactionIdKey: string;
  clock: () => Date;
}): Readonly<Record<Channel, Links>> {
  const signatures = signaturesOf(transactionIdKey);
  const linksOf = (channel: Channel): Links => {
    const page = (name: PaymentPageName) => (transactionId: string, lang?: Language) => {
      const query = new URLSearchParams(lang && { lang });
      if (channel === 'landreg') {
        const expiresAtMs = clock().getTime() + lifetimesMs[name];
        query.set('sig', signatures.sign(saidBy(name, transactionId), expiresAtMs));
      }
      return `${baseUrl}/${channel}/${name}/${transactionId}${query.size > 0 ? `?${query}` : ''}`;
    };
    return {
      pay: page('pay'),
      receipt: page('receipt'),
      download: page('download'),
      gatewayResult: `${baseUrl}/${channel}/response`,
    };
  };
  return { generic: linksOf('generic'), landreg: linksOf('landreg') };
}

/** Makes the function that says whether `signature` is that of a link to the page. */
export function createLinkCheck(transactionIdKey: string) {
  const signatures = signaturesOf(transactionIdKey);
  return (signature: string, name: PaymentPageName, transactionId: string, now: Date) =>
    signatures.check(signature, saidBy(name, transactionId), now);
}
