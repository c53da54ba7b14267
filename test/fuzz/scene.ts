// A case at work: its chance, its payments, one for each channel, what the answers have told of them, and how it asks.
import type { DescribedOperation, Description } from '../conformance/answers.ts';
import type { Answer, Bytes, Call } from '../support/http-client.ts';
import type { Service } from '../support/served-ledger.ts';
import type { Chance } from './chance.ts';

export type Operation = { path: string; method: string; described: DescribedOperation };

type Payment = {
  reference: string;
  id: string;
  /** Of the forms on its pages. */
  tokens: { pay: string; receipt: string };
  /** The form that takes its payer to the gateway; null before a method was chosen. */
  handOver: Record<string, string> | null;
};

export type Scene = {
  chance: Chance;
  /** In every reference of the case, so that no other case has it. */
  name: string;
  service: Service;
  description: Description;
  operations: readonly Operation[];
  payments: { generic: Payment; landreg: Payment };
  /** The queries of the signed links that were seen, by path. */
  links: Map<string, string>;
  userId: string;
  /** Sends, checks, counts and learns; null if something was wrong with the answer. */
  ask(operation: Operation, call: Call): Promise<Answer | null>;
  askRaw(kind: string, bytes: Bytes): Promise<void>;
  fault(text: string): void;
};

export const unknownId = '00000000000000000000000000';

export function newPayment(reference: string): Payment {
  return { reference, id: unknownId, tokens: { pay: '', receipt: '' }, handOver: null };
}

export const channelOf = (path: string) => (path.startsWith('/landreg') ? 'landreg' : 'generic');

/** Takes ids, tokens, links and forms from an answer. */
export function learn(scene: Scene, path: string, { body, headers, status }: Answer): void {
  const payment = scene.payments[channelOf(path)];
  const text = `${body} ${headers.location ?? ''}`.replaceAll('&amp;', '&');
  for (const [, page = '', query = ''] of text.matchAll(/(\/landreg\/\w+\/\w+)\?([^"\s]*sig=[^"\s]+)/g))
    scene.links.set(page, query);
  if (status >= 300) return;
  if (path.endsWith('/request')) payment.id = /\/pay\/([0-9A-Z]{26})/.exec(text)?.[1] ?? payment.id;
  if (path.startsWith('/api/v1/users')) scene.userId = /"id":"(\w+)"/.exec(body)?.[1] ?? scene.userId;
  const token = /name="token" value="([^"]+)"/.exec(body)?.[1];
  if (token) payment.tokens[path.includes('/receipt/') ? 'receipt' : 'pay'] = token;
  const hidden = text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
  const fields = Object.fromEntries(Array.from(hidden, ([, name = '', value = '']) => [name, value]));
  if (fields.CHECKSUM) payment.handOver = fields;
}
