/** A payment with its personal data, to show them or to send them on. */
import type { Held, Opened, OpenSealed } from '@ledger/personal-data/sealed.ts';
import { paymentStream, type RequestedPayment } from './payment.ts';
import { type Buyer, Payer, type RequestDetails } from './personal-data.ts';
import type { RecordedResult } from './recorded-result.ts';

/** Whether personal data can be read. */
export type Access =
  | { kind: 'open' }
  /** `at` is null after the keys were destroyed and before the event that records it. */
  | { kind: 'erased'; at: string | null }
  /** `isLost`: PostgreSQL answers, but the key is missing, or what was sealed was changed. */
  | { kind: 'unavailable'; isLost: boolean };

/** Where personal data are erased, or cannot be read at present, they are empty. */
export type OpenPayment = Omit<RequestedPayment, 'request' | 'results'> & {
  request: RequestedPayment['request'] & RequestDetails;
  results: readonly (RecordedResult & Buyer)[];
  access: Access;
};

const noPayer = Object.fromEntries(Object.keys(Payer.schema).map((field) => [field, ''])) as Payer;
const noDetails: RequestDetails = { payer: noPayer, extra: {} };
const noBuyer: Buyer = { buyerName: '' };

export async function openPayment(payment: RequestedPayment, open: OpenSealed): Promise<OpenPayment> {
  const place = { stream: paymentStream(payment.request.transactionId), field: 'personal' } as const;
  const [details, ...buyers] = await Promise.all([
    open<RequestDetails>(payment.request.personal, place),
    ...payment.results.map(({ personal }) => open<Buyer>(personal as Held<Buyer>, place)),
  ]);
  return {
    ...payment,
    request: { ...payment.request, ...contentOf(details, noDetails) },
    results: payment.results.map((result, index) => ({ ...result, ...contentOf(buyers[index], noBuyer) })),
    access: accessOf(payment, [details, ...buyers]),
  };
}

/** A payment that was requested just now, with these details: it has no results yet. */
export function openedAs(payment: RequestedPayment, details: RequestDetails): OpenPayment {
  return { ...unopened(payment), request: { ...payment.request, ...details }, access: { kind: 'open' } };
}

/** The payment with empty personal data, where they are not needed. */
export function unopened(payment: RequestedPayment): OpenPayment {
  return {
    ...payment,
    request: { ...payment.request, ...noDetails },
    results: payment.results.map((result) => ({ ...result, ...noBuyer })),
    access: { kind: 'unavailable', isLost: false },
  };
}

function contentOf<T>(opened: Opened<unknown> | undefined, otherwise: T): T {
  return opened?.kind === 'open' ? (opened.value as T) : otherwise;
}

function accessOf(payment: RequestedPayment, opened: readonly Opened<unknown>[]): Access {
  const missing = opened.filter((each) => each.kind === 'unavailable');
  if (missing.length > 0) return { kind: 'unavailable', isLost: missing.every(({ isLost }) => isLost) };
  if (opened.some(({ kind }) => kind === 'erased'))
    return { kind: 'erased', at: payment.personalData.erasedAt };
  return { kind: 'open' };
}
