/** The merchants' servers, which take callbacks, and check that each tells no older status than the one before. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { History } from '../engine/history.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { Report } from '../violations.ts';

export type ReceiverMood = 'well' | 'refuses' | 'hangs' | 'slow';

export type Received = { atMs: number; status: string; change: number };

export function startReceivers({
  processes,
  report,
  history,
}: {
  processes: readonly SimulatedProcess[];
  report: Report;
  history: History;
}) {
  const moods = processes.map((): ReceiverMood => 'well');
  /** What each payment's merchant has heard and confirmed. */
  const heard = new Map<string, Received[]>();
  const underWay = new Map<string, number>();
  let posts = 0;

  async function take(index: number, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const process = processes[index];
    const body = await text(request);
    if (!process) return;
    posts += 1;
    const { transaction_id: id, status } = JSON.parse(body);
    const message = String(request.headers['webhook-id'] ?? '');
    const change = Number(/-callback-(\d+)$/.exec(message)?.[1] ?? 0);
    const known = heard.get(id) ?? [];
    if (known.some((each) => each.change > change))
      report('callback-overtaken', id, `Callback ${change} was sent after ${known.at(-1)?.change}`);
    const together = (underWay.get(message) ?? 0) + 1;
    if (together > 1) report('callback-doubled', id, `${message} was sent ${together} times at once`);
    underWay.set(message, together);
    response.once('close', () => underWay.set(message, (underWay.get(message) ?? 1) - 1));
    const mood = moods[index];
    history.tell(
      `merchant ${index}: gets ${message} with status ${status}${mood === 'well' ? '' : `, and ${mood}`}`,
    );
    if (mood === 'hangs') return;
    if (mood === 'slow') await process.runtime.sleep(12_000);
    response.statusCode = mood === 'refuses' ? 503 : 200;
    response.end();
    if (mood !== 'refuses')
      heard.set(id, [...(heard.get(id) ?? []), { atMs: process.nowMs(), status, change }]);
  }

  for (const [index, process] of processes.entries())
    process.enter(() => createServer((request, response) => void take(index, request, response)).listen(80));
  return {
    setMood(index: number, mood: ReceiverMood) {
      moods[index] = mood;
      history.tell(`merchant ${index}: its receiver ${mood === 'well' ? 'is well' : mood}`);
    },
    heard,
    posts: () => posts,
  };
}
