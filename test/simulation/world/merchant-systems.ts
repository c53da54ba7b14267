/**
 * The systems of merchants: they read their payments, one or all, ask what the registry says, and replace their credentials.
 * What they are told has to be in the log, and what they were told once stays so.
 */
import type { CredentialKind } from '../../../src/events/merchant.ts';
import { statusCodeOf } from '../../../src/receipts/payment-fields.ts';
import type { LogCheck } from '../checks/log.ts';
import type { Random } from '../engine/random.ts';
import { askAsMerchant, registryMs, type World } from './asking.ts';
import { ask } from './http.ts';

export type MerchantSystems = ReturnType<typeof createMerchantSystems>;
type Listed = ReadonlyMap<string, string>;

const readers = ['council', 'museum', 'library'] as const;
/** An answer that is lost is asked for again, so many times: one of two processes may never start, and a list has many pages. */
const tries = 12;
const longestPauseMs = 48_000;

export function createMerchantSystems(
  world: World,
  {
    log,
    hosts,
    lostAtMs,
    mayBeOld,
    isOlder,
    kinds,
  }: {
    log: LogCheck;
    hosts: readonly string[];
    /** When PostgreSQL last lost what it had committed: lists may be older then. */
    lostAtMs: () => number;
    /** A node of the event store may answer with its old state, or the log itself is an older one. */
    mayBeOld: boolean;
    /** The rows are of a log that was lost. */
    isOlder: boolean;
    /** Of credentials, those that may be replaced. */
    kinds: readonly CredentialKind[];
  },
) {
  const { bank, report, history, process, wallets } = world;
  /** What lists have shown of each merchant: every payment, and whether it was paid. */
  const shown = new Map<string, { atMs: number; ids: Set<string>; paid: Set<string> }>();

  const statusOf = (id: string): string | null => {
    log.look();
    const state = log.payments.get(id)?.state;
    return state && state.status !== 'none' ? statusCodeOf(state) : null;
  };

  const ownOf = (merchant: string) =>
    [...log.payments].flatMap(([id, { state, isUnreadable }]) =>
      state.status !== 'none' &&
      state.request.channel === 'generic' &&
      state.request.merchant.code === merchant &&
      !isUnreadable
        ? [{ id, reference: state.request.reference }]
        : [],
    );

  function checkStatus(id: string, told: string, was: string | null): void {
    if (was === '1' && told !== '1' && !mayBeOld)
      report('unpaid-again', id, `It is paid, and its merchant is told ${told}`);
    if (told === '1' && statusOf(id) !== '1' && !mayBeOld)
      report('paid-unrecorded', id, 'Its merchant is told that it is paid, and the log does not say so');
  }

  /** Resolves to null if no answer comes. */
  async function patiently(what: string, request: Parameters<typeof askAsMerchant>[1]) {
    for (let number = 0; number < tries; number += 1) {
      const answer = await askAsMerchant(what, request, world);
      if (answer && answer.status < 500) return answer;
      await process.runtime.sleep(Math.min(3_000 * 2 ** number, longestPauseMs));
    }
    return null;
  }

  /** Resolves to null if a page does not come. */
  async function readPages(
    merchant: string,
    query: Readonly<Record<string, string>>,
  ): Promise<Listed | null> {
    const found = new Map<string, string>();
    for (let path = `/generic/payments?${new URLSearchParams(query)}`; path !== ''; ) {
      const answer = await patiently('GET /generic/payments', { merchant, path });
      if (answer?.status !== 200) return null;
      for (const { transaction_id: id, status } of JSON.parse(answer.body).data) {
        if (found.has(id)) report('list-wrong', id, 'Two pages of one list have it');
        found.set(id, status);
      }
      const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(answer.link) ?? [];
      path = next === '' ? '' : next.replace(/^http:\/\/[^/]+/, '');
    }
    return found;
  }

  /** A list may be a little old, but never older than the one before. */
  async function readList(merchant: string, random: Random): Promise<void> {
    const kept = shown.get(merchant);
    const atMs = lostAtMs();
    const before =
      kept && kept.atMs === atMs ? kept : { atMs, ids: new Set<string>(), paid: new Set<string>() };
    shown.set(merchant, before);
    const [ids, paid] = [[...before.ids], [...before.paid]];
    const isOfPaid = random.chance(0.4);
    const query = { limit: String(random.integer(1, 20)), ...(isOfPaid && { status: '1' }) };
    const found = await readPages(merchant, query);
    if (!found || lostAtMs() !== atMs) return;
    history.tell(`merchant ${merchant}: lists ${found.size} payments${isOfPaid ? ' that are paid' : ''}`);
    for (const id of mayBeOld ? [] : isOfPaid ? paid : ids)
      if (!found.has(id)) report('list-wrong', id, 'A list had it before, and has it no longer');
    for (const [id, status] of found) {
      checkStatus(id, status, paid.includes(id) ? '1' : null);
      before.ids.add(id);
      if (status === '1') before.paid.add(id);
    }
  }

  async function readOne(
    merchant: string,
    { id, reference }: { id: string; reference: string },
    asks: boolean,
  ) {
    const was = statusOf(id);
    const path = asks ? `/generic/requery/${reference}` : `/generic/payments/${id}`;
    const what = asks ? 'GET /generic/requery' : 'GET /generic/payments/{id}';
    const patient = { ...world, patienceMs: world.patienceMs + (asks ? registryMs : 0) };
    const answer = await askAsMerchant(what, { merchant, path }, patient);
    const isUnknown =
      answer?.status === 404 && !answer.body.includes('The transaction registry has no record');
    if (isUnknown && bank.knownPayments.has(id)) report('false-not-found', id, `${what} was answered 404`);
    if (answer?.status !== 200) return;
    const { status, as_at } = JSON.parse(answer.body).data;
    // What is said as at an earlier time may be old.
    checkStatus(id, status, as_at === undefined ? was : null);
  }

  const post = (merchant: string, path: string, body: string) =>
    patiently('POST /generic/credentials', {
      merchant,
      path: `/generic/credentials/${path}`,
      method: 'POST',
      body,
    });

  return {
    /** Reads some payments of a merchant in every way. */
    async readSome(random: Random): Promise<void> {
      const merchant = random.pick(readers);
      log.look();
      const own = ownOf(merchant);
      const one = own.length > 0 ? [random.pick(own), random.pick(own), random.pick(own)] : [];
      await Promise.all([
        readList(merchant, random),
        ...one.map((each, index) => readOne(merchant, each, index === 0)),
      ]);
    },

    /** Issues a new API key or webhook secret, uses it at once, and at times ends the others soon. */
    async replaceSome(random: Random): Promise<void> {
      const merchant = random.pick(readers);
      const kind = random.pick(kinds);
      const body = JSON.stringify({ overlap_hours: random.pick([1, 24, 168]) });
      const issued = await post(merchant, `${kind}/rotate`, body);
      history.tell(`merchant ${merchant}: wants another ${kind}: ${issued?.status ?? 'no answer'}`);
      if (issued?.status !== 201) return;
      wallets.add(merchant, kind, JSON.parse(issued.body).data.value);
      const endsOthers = random.chance(0.7);
      await process.runtime.sleep(random.integer(1, 60) * 1_000);
      if (!endsOthers) return;
      const ended = await post(merchant, `${kind}/end-overlap`, '{}');
      history.tell(`merchant ${merchant}: ends the others: ${ended?.status ?? 'no answer'}`);
    },

    /** At the end: that lists have exactly what is in the log, and that no key opens that has ended. */
    async checkEnd(): Promise<void> {
      for (const merchant of readers) {
        if (wallets.keyOf(merchant) === null) continue;
        const found = await readPages(merchant, { limit: '3' });
        if (!found) report('list-wrong', merchant, 'Its payments cannot be listed');
        log.look();
        for (const { id } of found && !isOlder ? ownOf(merchant) : [])
          if (found?.get(id) !== statusOf(id))
            report('list-wrong', id, `Its status is ${statusOf(id)}, and a list says ${found?.get(id)}`);
        for (const key of wallets.endedKeys(merchant))
          for (const host of hosts) {
            const headers = { 'x-merchant-code': merchant, authorization: `Bearer ${key}` };
            const answer = await ask(process, { host, path: '/generic/payments?limit=1', headers });
            if (answer?.status === 200) report('revoked-opens', merchant, 'An API key that has ended');
          }
      }
    },
  };
}
