// What a case knows: its payments, one for each channel, and what the answers have told of them.
import type { Chance } from './chance.ts';
import type { Answer } from './client.ts';

export type Channel = 'generic' | 'landreg';
type Payment = {
  reference: string;
  id: string;
  /** Of the forms on its pages, by the name of the page. */
  tokens: Record<string, string>;
  /** The form that takes its payer to the gateway; null before a method was chosen. */
  handOver: Record<string, string> | null;
};

export type Scene = ReturnType<typeof createScene>;

const unknownId = '00000000000000000000000000';

/** `name` is in every reference of the case, so that no other case has it. */
export function createScene(chance: Chance, name: string) {
  const payment = (reference: string): Payment => ({ reference, id: unknownId, tokens: {}, handOver: null });
  const payments: Record<Channel, Payment> = { generic: payment(`G-${name}`), landreg: payment(`L-${name}`) };
  /** The queries of the signed links that were seen, by path. */
  const links = new Map<string, string>();
  return { chance, name, payments, links, userId: unknownId, count: 0 };
}

export const channelOf = (path: string): Channel => (path.startsWith('/landreg') ? 'landreg' : 'generic');

/** Takes ids, tokens, links and forms from an answer. */
export function learn(scene: Scene, path: string, { body, headers, status }: Answer): void {
  const payment = scene.payments[channelOf(path)];
  const text = `${body} ${headers.location ?? ''}`.replaceAll('&amp;', '&');
  for (const [, page = '', query = ''] of text.matchAll(/(\/landreg\/\w+\/\w+)\?([^"\s]*sig=[^"\s]+)/g))
    scene.links.set(page, query);
  if (status >= 300) return;
  if (path.endsWith('/request')) payment.id = /\/pay\/([0-9A-Z]{26})/.exec(text)?.[1] ?? payment.id;
  if (path.startsWith('/api/v1/users')) scene.userId = /"id":"(\w+)"/.exec(body)?.[1] ?? scene.userId;
  const [, page = ''] = /\/(receipt)\//.exec(path) ?? [null, 'pay'];
  payment.tokens[page] = /name="token" value="([^"]+)"/.exec(body)?.[1] ?? payment.tokens[page] ?? '';
  const hidden = text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
  const fields = Object.fromEntries(Array.from(hidden, ([, name = '', value = '']) => [name, value]));
  if (fields.CHECKSUM) payment.handOver = fields;
}
