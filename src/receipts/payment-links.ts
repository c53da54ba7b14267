/** Links to a payment's pages. They are absolute, because merchants relay pages from their own origin and emails hold links. */
import type { Channel } from '../events/payment.ts';
import { createExpiringSignatures } from '../kernel/expiring-signature.ts';
import type { Runtime } from '../kernel/runtime.ts';
import type { Language } from './texts.ts';

export type PaymentPageName = 'pay' | 'receipt' | 'download';

export type Links = ReturnType<typeof createLinks>[Channel];

const hourMs = 3_600_000;
const lifetimesMs: Readonly<Record<PaymentPageName, number>> = {
  pay: 24 * hourMs,
  receipt: 10 * 365 * 24 * hourMs,
  download: 10 * 365 * 24 * hourMs,
};

const signaturesOf = (transactionIdKey: string) => createExpiringSignatures(transactionIdKey, 'payment link');
const signedText = (name: PaymentPageName, transactionId: string) => `${name}.${transactionId}`;

/**
 * Each channel's links. On the generic channel the id alone opens a page. The land registry's links carry a signature,
 * `sig`, because a payer's browser cannot send a key.
 */
export function createLinks({
  baseUrl,
  transactionIdKey,
  runtime,
}: {
  baseUrl: string;
  transactionIdKey: string;
  runtime: Pick<Runtime, 'now'>;
}) {
  const signatures = signaturesOf(transactionIdKey);
  const linksOf = (channel: Channel) => {
    const page = (name: PaymentPageName) => (transactionId: string, lang?: Language) => {
      const query = new URLSearchParams(lang && { lang });
      if (channel === 'landreg') {
        const expiresAtMs = runtime.now().getTime() + lifetimesMs[name];
        query.set('sig', signatures.sign(signedText(name, transactionId), expiresAtMs));
      }
      return `${baseUrl}/${channel}/${name}/${transactionId}${query.size > 0 ? `?${query}` : ''}`;
    };
    return {
      pay: page('pay'),
      receipt: page('receipt'),
      download: page('download'),
      /** Where the gateway sends its result. */
      gatewayResult: `${baseUrl}/${channel}/response`,
    };
  };
  return { generic: linksOf('generic'), landreg: linksOf('landreg') };
}

/** Makes the function that checks the signature of a link to a page. */
export function createLinkCheck(transactionIdKey: string) {
  const signatures = signaturesOf(transactionIdKey);
  return (signature: string, name: PaymentPageName, transactionId: string, now: Date) =>
    signatures.check(signature, signedText(name, transactionId), now);
}
