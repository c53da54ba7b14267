/** Every request that somebody whose account is limited to some merchants may try, and what the answers say. */
import { hasPoppler, textOf } from '../../receipts/pdf-reader.ts';
import type { Member } from '../../support/console.ts';
import type { Populated } from './populated.ts';

/** As startPopulated gives them. */
export const idOf = (serial: number) => serial.toString(32).toUpperCase().padStart(26, '0');
export const own = [1, 2, 3].map(idOf);
export const foreign = [4, 5, 6, 7].map(idOf);
export const nobodys = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';

/** Without the time at which it was printed. */
async function textOfPdf(answer: Response): Promise<string> {
  const pdf = Buffer.from(await answer.arrayBuffer());
  return hasPoppler ? textOf(pdf).replaceAll(/\d{2}:\d{2}:\d{2}/g, '') : '';
}

/** What an answer says, without what differs each time it is asked. Throws if it was not made, and could not differ. */
async function said(answer: Response): Promise<string> {
  if (answer.status >= 500) throw new Error(`${answer.url} answered ${answer.status}`);
  const type = answer.headers.get('content-type') ?? '';
  const body = type.includes('pdf') ? await textOfPdf(answer) : await answer.text();
  const stable = body
    .replaceAll(/name="token" value="[^"]+"/g, '')
    .replaceAll(/[\w-]+\.\d{13}\.[\w-]{43}/g, '')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '');
  return [
    answer.status,
    answer.headers.get('location'),
    type,
    answer.headers.get('content-disposition'),
    stable,
  ].join('\n');
}

const cursors = [
  ['2026-11-20 01:00:00+00', foreign[0]],
  ['2026-11-20 01:00:00+00', foreign[0], 'callback'],
  ['2026-11-20 01:05:00+00', `payment/${foreign[1]}/2`],
].map((key) => `after=${encodeURIComponent(JSON.stringify(key))}`);

const accounts = [
  'merchant:museum',
  'merchant:council',
  'merchant:museum ',
  'MERCHANT:museum',
  'bank',
  'gateway:fpx',
  'suspense:duplicate',
  `merchant:${'x'.repeat(300)}`,
].map((account) => `account=${encodeURIComponent(account)}&from=2026-11-01&to=2026-11-30`);

const lookups = (key: string, values: readonly string[]) => values.map((value) => `${key}=${value}`);

const everywhere = [
  '',
  'merchant=museum',
  'merchant=council&merchant=museum',
  'merchants=museum&scope=museum&staff=0&owner=museum',
  'merchant=%00',
  'day=2026-11-20',
];

/** What the pages read from their addresses, by the beginning of their paths. */
const queries: Readonly<Record<string, readonly string[]>> = {
  '/console/payments': [
    ...lookups('q', ['HIDDEN', 'own1', 'R-77-4', 'P1-4', 'P1']),
    ...lookups('sort', ['-amount', 'merchant']),
    'day=2026-11-20&by=paid',
    'least=7777.77&most=7777.77',
    'mode=fpx',
    'status=succeeded',
    ...cursors,
  ],
  '/console/exceptions': [
    ...lookups('kind', ['duplicate', 'unmatched', 'difference', 'parked', 'sharedGatewayTransaction']),
    ...lookups('state', ['all', 'resolved']),
    'state=all&merchant=museum',
    'state=all&sort=-amount',
    'least=7777.77&most=7777.77',
    ...cursors,
  ],
  '/console/deliveries': [
    `payment=${foreign[0]}`,
    'receiver=https%3A%2F%2Fmuseum.example',
    ...lookups('state', ['all', 'abandoned', 'due&sort=receiver']),
    'state=all&merchant=museum',
    ...cursors,
  ],
  '/console/journal': [
    ...accounts,
    'account=merchant:council&account=merchant:museum&from=2026-11-01&to=2026-11-30',
  ],
  '/console/statements': [
    'merchant=museum&day=2026-11-20&known=2026-11-22',
    'merchant=council&day=2026-11-20&known=2026-11-22',
    'merchant=museum&merchant=council&day=2026-11-20&known=2026-11-22',
    'merchant[]=museum&day=2026-11-20&known=2026-11-22',
  ],
};

const keysOf = (asked: readonly string[]) => asked.flatMap((each) => [...new URLSearchParams(each).keys()]);

/** Pages of a form alone, which read nothing that is special to them. */
const onlyForm = /payments\/(find|by-payer)$/;

/** What is shown of one payment as it was earlier: nothing else about one payment reads `revision`. */
const isAsOf = /payments\/:id(?:\/history\.json)?$/;

/** What a page is asked for: what it reads, and all at once what only others read. */
export function queriesOf(path: string): readonly string[] {
  const places = Object.entries(queries).filter(([place]) => path.startsWith(place) && !onlyForm.test(path));
  const own = places.flatMap(([, asked]) => asked);
  // A PDF, which takes longest, reads what the page and the CSV of the same route read.
  if (path.endsWith('.pdf')) return own;
  const read = [...everywhere, ...own];
  const known = new Set(keysOf(read));
  const others = new URLSearchParams(Object.values(queries).flat().join('&'));
  const ignored = Object.fromEntries([...others].filter(([key]) => !known.has(key)));
  return [...read, new URLSearchParams(ignored).toString()];
}

/** Of all that acts on a payment. */
const anyForm = { note: 'n', delivery: 'callback-1', resolution: 'refunded', amount: '1.00', chargeNo: '1' };

const span = { from: '2026-11-01', to: '2026-11-30' };
const forms: Readonly<Record<string, readonly Record<string, string>[]>> = {
  '/console/payments/find': [
    { q: 'HIDDEN-1' },
    { q: 'R-77-4' },
    { q: 'Aminah' },
    { q: foreign[0] ?? '' },
    { q: nobodys },
  ],
  '/console/payments/by-payer': [
    { payer: 'Aminah' },
    { payer: '900101145678' },
    { payer: 'Aminah', after: cursors[0] ?? '' },
  ],
  '/console/export': [
    { ...span, format: 'csv' },
    { ...span, format: 'csv', merchant: 'museum' },
    { ...span, format: 'csv', merchant: 'council' },
    { ...span, format: 'jsonl', merchant: 'council' },
    { ...span, merchant: 'museum' },
    { ...span, format: 'jsonl', opened: 'yes' },
    { ...span, format: 'csv', merchants: 'museum', scope: '' },
  ],
  '/console/deliveries/send-again': [
    { state: 'abandoned', count: '1' },
    { state: 'abandoned', count: '1', merchant: 'museum' },
    { state: 'abandoned', count: '1', payment: foreign[0] ?? '' },
  ],
};

/** Of every request that somebody with a scope may try, what they are told. */
export async function tryAll(
  { app }: Populated,
  member: Member,
  ids: readonly string[],
  queriesFor = queriesOf,
): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  const get = async (path: string, query: string) =>
    answers.set(`get ${path} ${query}`, await said(await member.get(query ? `${path}?${query}` : path)));
  for (const { forScope, method, path } of app.consoleRoutes) {
    if (path === '/console/live' || forScope === 'all' || forScope === 'own') continue;
    const paths = (path.includes('/:id') ? ids : ['']).flatMap((id) =>
      ['1', '2'].map((no) => path.replace(':id', id).replace(/:(no|revision)/, no)),
    );
    for (const each of new Set(paths)) {
      // One after another, because nobody may have more than a few downloads at once.
      if (method === 'get' && /\.(csv|pdf)$/.test(path))
        for (const query of queriesFor(each)) await get(each, query);
      else if (method === 'get' && forScope === 'filtered')
        await Promise.all(queriesFor(each).map((query) => get(each, query)));
      else if (method === 'get')
        for (const query of isAsOf.test(path) ? ['', 'revision=0'] : ['']) await get(each, query);
      // What is theirs is not changed, so that it can be compared.
      else if (!own.some((id) => each.includes(id)))
        for (const form of forms[path] ?? [anyForm])
          answers.set(`post ${each} ${JSON.stringify(form)}`, await said(await member.post(each, form)));
    }
  }
  return answers;
}
