/** Links to a payment's pages. They are absolute, because merchants relay pages from their own origin and emails hold links. */
import { createExpiringSignatures } from '@ledger/kernel/expiring-signature.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { LinkKeys } from '../common/link-keys.ts';
import type { Channel } from '../events/payment.ts';
import type { Language } from './texts.ts';

export type PaymentPageName = 'pay' | 'receipt' | 'download';

export type Links = ReturnType<typeof createLinks>[Channel];

const hourMs = 3_600_000;
const lifetimesMs: Readonly<Record<PaymentPageName, number>> = {
  pay: 24 * hourMs,
  receipt: 10 * 365 * 24 * hourMs,
  download: 10 * 365 * 24 * hourMs,
};

const signaturesOf = ({ current, others, original }: LinkKeys) =>
  createExpiringSignatures({ current, others: [...others, original] }, 'payment link');
const signedText = (name: PaymentPageName, transactionId: string) => `${name}.${transactionId}`;

/**
 * Each channel's links. On the generic channel the id alone opens a page. The land registry's links carry a signature,
 * `sig`, because a payer's browser cannot send a key. It ends after the page's lifetime; links on a page that such a link
 * has opened are given its end, `endsAtMs`, so that nobody renews a link by opening it.
 */
export function createLinks(dependencies: {
  baseUrl: string;
  linkKeys: LinkKeys;
  runtime: Pick<Runtime, 'now'>;
}) {
  const { baseUrl, linkKeys, runtime } = dependencies;
  const signatures = signaturesOf(linkKeys);
  const linksOf = (channel: Channel) => {
    const page = (name: PaymentPageName) => (transactionId: string, lang?: Language, endsAtMs?: number) => {
      const query = new URLSearchParams(lang && { lang });
      if (channel === 'landreg') {
        const end = endsAtMs ?? runtime.now().getTime() + lifetimesMs[name];
        query.set('sig', signatures.sign(signedText(name, transactionId), end));
      }
      return `${baseUrl}/${channel}/${name}/${transactionId}${query.size > 0 ? `?${query}` : ''}`;
    };
    const pay = page('pay');
    return {
      pay,
      /** The link from a receipt to the payment page. It ends a day after the request; undefined once that is over. */
      payFromReceipt({ at, transactionId }: { at: string; transactionId: string }, lang: Language) {
        const endsAtMs = Date.parse(at) + lifetimesMs.pay;
        const isOver = channel === 'landreg' && runtime.now().getTime() >= endsAtMs;
        return isOver ? undefined : pay(transactionId, lang, endsAtMs);
      },
      receipt: page('receipt'),
      download: page('download'),
      gatewayResult: `${baseUrl}/${channel}/response`,
    };
  };
  return { generic: linksOf('generic'), landreg: linksOf('landreg') };
}

export function createLinkCheck(linkKeys: LinkKeys) {
  const signatures = signaturesOf(linkKeys);
  return (signature: string, name: PaymentPageName, transactionId: string, now: Date) =>
    signatures.check(signature, signedText(name, transactionId), now);
}
