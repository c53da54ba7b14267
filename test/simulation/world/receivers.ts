/** The merchants' servers, which take callbacks, and check that each tells no older status than the one before. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { postKeyOf } from '../checks/sent-again.ts';
import type { History } from '../engine/history.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import { merchants } from '../program/configuration.ts';
import type { Report } from '../violations.ts';
import type { Sendings } from './sendings.ts';
import type { Wallets } from './wallets.ts';

export type ReceiverMood = 'well' | 'refuses' | 'hangs' | 'slow';

type Received = { atMs: number; status: string; change: number };

/** An attempt is ended by its process within this time: one that is open for longer is that of a process that stands still. */
const attemptMs = 40_000;
/** Whatever is claimed is sent within this time, if at all: its lease may have been lost meanwhile. */
const claimedMs = 20_000;
/** Whoever sent something when its lease was lost has recorded it by then. */
const leaseLostForMs = 2 * 60_000;

export type Receivers = ReturnType<typeof startReceivers>;

export function startReceivers({
  processes,
  report,
  history,
  leasesLostAtMs,
  wallets,
  sendings,
}: {
  processes: readonly SimulatedProcess[];
  report: Report;
  history: History;
  /** When PostgreSQL last lost what it had committed, by the true time: who sent something then holds no lease on it. */
  leasesLostAtMs: () => number;
  wallets: Wallets;
  sendings: Sendings;
}) {
  const moods = processes.map((): ReceiverMood => 'well');
  /** What each payment's merchant has heard and confirmed. */
  const heard = new Map<string, Received[]>();
  /** What the land registry has booked of each payment: the amount, by receipt number. */
  const items = new Map<string, Map<string, string>>();
  /** When those began that have not ended, by message. */
  const underWay = new Map<string, number[]>();
  const posted = new Map<string, { atMs: number; isTaken: boolean; isLeaseLost: boolean }[]>();
  let posts = 0;

  async function take(index: number, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const process = processes[index];
    const body = await text(request);
    if (!process) return;
    posts += 1;
    const isLand = merchants[index] === 'land';
    const parsed = JSON.parse(body);
    const status = isLand ? '1' : parsed.status;
    const id: string = isLand ? parsed.transId : parsed.transaction_id;
    const header = (name: string) => String(request.headers[name] ?? '');
    const message = isLand ? `item ${parsed.resitNo}` : header('webhook-id');
    const signed = {
      id: message,
      timestamp: header('webhook-timestamp'),
      signature: header('webhook-signature'),
    };
    if (!isLand) wallets.checkSignature(merchants[index] ?? '', signed, body);
    const change = isLand ? 0 : Number(/-callback-(\d+)$/.exec(message)?.[1] ?? 0);
    const known = heard.get(id) ?? [];
    if (known.some((each) => each.change > change))
      report('callback-overtaken', id, `Callback ${change} was sent after ${known.at(-1)?.change}`);
    const nowMs = process.nowMs();
    const others = underWay.get(message) ?? [];
    if (others.some((sinceMs) => sinceMs > Math.max(leasesLostAtMs() + claimedMs, nowMs - attemptMs)))
      report('callback-doubled', id, `${message} was sent ${others.length + 1} times at once`);
    underWay.set(message, [...others, nowMs]);
    response.once('close', () => {
      const left = underWay.get(message) ?? [];
      underWay.set(message, left.toSpliced(left.indexOf(nowMs), 1));
    });
    sendings.post(id, change, { name: parsed.buyer_name ?? '', atMs: nowMs });
    const mood = moods[index];
    const key = postKeyOf(id, isLand ? 'items' : `callback-${change}`);
    const isTaken = mood === 'well' || mood === 'slow';
    const isLeaseLost = nowMs > leasesLostAtMs() && nowMs < leasesLostAtMs() + leaseLostForMs;
    posted.set(key, [...(posted.get(key) ?? []), { atMs: nowMs, isTaken, isLeaseLost }]);
    history.tell(
      `merchant ${index}: gets ${message} with status ${status}${mood === 'well' ? '' : `, and ${mood}`}`,
    );
    if (mood === 'hangs') return;
    if (mood === 'slow') await process.runtime.sleep(12_000);
    response.statusCode = mood === 'refuses' ? 503 : 200;
    if (isLand && mood !== 'refuses') bookItem(parsed, response);
    response.end();
    if (mood !== 'refuses')
      heard.set(id, [...(heard.get(id) ?? []), { atMs: process.nowMs(), status, change }]);
  }

  /** As the land registry does it: one that it has already is answered as a duplicate. */
  function bookItem(
    item: { transId: string; resitNo: string; amaun: string },
    response: ServerResponse,
  ): void {
    const { transId, resitNo, amaun } = item;
    const booked = items.get(transId) ?? new Map<string, string>();
    const known = booked.get(resitNo);
    if (known !== undefined && known !== amaun)
      report('item-changed', transId, `${resitNo} over ${known} was told again over ${amaun}`);
    items.set(transId, booked.set(resitNo, amaun));
    response.statusCode = known === undefined ? 200 : 409;
    response.setHeader('content-type', 'application/json');
    response.write(
      JSON.stringify({ statusCode: known === undefined ? 'SUCCESS' : 'FAILED', noresit: resitNo }),
    );
  }

  for (const [index, process] of processes.entries())
    process.enter(() => createServer((request, response) => void take(index, request, response)).listen(80));
  return {
    setMood(index: number, mood: ReceiverMood) {
      moods[index] = mood;
      history.tell(`merchant ${index}: its receiver ${mood === 'well' ? 'is well' : mood}`);
    },
    /** What the log says of them is lost, and may be sent again. */
    startAgain(): void {
      for (const known of [heard, underWay, posted]) known.clear();
    },
    names: processes.map(({ name }) => name),
    heard,
    posted,
    items,
    posts: () => posts,
  };
}
