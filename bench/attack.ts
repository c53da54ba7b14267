// The response times of calm clients, alone and while somebody sends what is costly to refuse. Ratios to the calm ones.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { brotliCompressSync, constants } from 'node:zlib';
import { exchange, send } from '../test/support/http-client.ts';
import { type Service, startService } from '../test/support/served-ledger.ts';
import type { Row } from './row.ts';

const rounds = 3;
const roundMs = 15_000;
/** Of all calm clients together. They ask at fixed times, whether or not earlier answers have come. */
const calmPerSecond = 40;

type Attack = 'queries' | 'brotli';

const phases: readonly (readonly [name: string, attack: Attack | null])[] = [
  ['calm clients, p99', null],
  ['… with 8,000 query parameters, 10 a second', 'queries'],
  ['… with 14 bytes of Brotli, 20 in flight', 'brotli'],
];

/** What the attackers do, in a thread of their own, until they are ended. */
const attacks: Readonly<Record<Attack, (port: number) => Promise<void>>> = {
  /** In turns within Node's limit for headers and beyond it. */
  async queries(port) {
    for (let sent = 0; ; sent += 1) {
      const query = (sent % 2 === 0 ? '&' : 'a=1&').repeat(8_000);
      void exchange(port, { parts: [`GET /generic/check?${query} HTTP/1.1\r\nHost: localhost\r\n\r\n`] });
      await sleep(100);
    }
  },
  async brotli(port) {
    // 14 bytes that decode to 16 MiB.
    const params = { [constants.BROTLI_PARAM_LGWIN]: 24 };
    const body = brotliCompressSync(Buffer.alloc(2 ** 24 - 1), { params });
    const fields = [
      'Content-Type: application/json',
      'Content-Encoding: br',
      `Content-Length: ${body.length}`,
    ];
    const head = `POST /generic/response HTTP/1.1\r\nHost: localhost\r\n${fields.join('\r\n')}\r\n\r\n`;
    const loop = async () => {
      while (true) await exchange(port, { parts: [head, body] });
    };
    await Promise.all(Array.from({ length: 20 }, loop));
  },
};

if (!isMainThread && workerData) await attacks[workerData.attack as Attack](workerData.port);

/** Takes about three minutes. */
export async function benchAttack(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-attack-'));
  const service = await startService(folder);
  try {
    const times = new Map<string, number[]>(phases.map(([name]) => [name, []]));
    // In turns, so that other load on the machine affects all phases; the first round only warms up.
    for (let round = 0; round <= rounds; round += 1)
      for (const [name, attack] of phases) {
        const workerData = { attack, port: service.port };
        const attackers = attack && new Worker(new URL(import.meta.url), { workerData });
        const measured = await askCalmly(service, round === 0 ? roundMs / 5 : roundMs);
        await attackers?.terminate();
        if (round > 0) times.get(name)?.push(...measured);
      }
    const p99s = phases.map(([name, attack]) => ({ name, attack, value: p99(times.get(name) ?? []) }));
    const calm = p99s[0]?.value ?? Number.NaN;
    return p99s.map(({ name, attack, value }) => ({
      ...{ name, value, unit: 'ms' },
      ...(attack && { ratio: value / calm, target: 'ratio <= 3' }),
    }));
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

function p99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;
}

/** How long each answer took, in milliseconds. Rejects if an answer is not 200. */
async function askCalmly({ url, sandboxUrl }: Service, forMs: number): Promise<number[]> {
  const startedAt = performance.now();
  const headers = {
    authorization: 'Bearer demo-key',
    'x-merchant-code': 'demo-app',
    'content-type': 'application/json',
    accept: 'application/json',
  };
  const body = (turn: number) =>
    JSON.stringify({
      trans_id: `CALM-${Math.round(startedAt)}-${turn}`,
      amount: '120.50',
      service: 'Licences',
      description: 'Business licence',
      callback_url: `${sandboxUrl}/merchant/callback`,
      redirect_url: `${sandboxUrl}/merchant`,
    });
  const turns = Math.round((forMs / 1_000) * calmPerSecond);
  const answers = Array.from({ length: turns }, async (_, turn) => {
    await sleep((turn * 1_000) / calmPerSecond);
    const call =
      turn % 2 === 0
        ? { method: 'GET', path: '/generic/check', headers }
        : { method: 'POST', path: '/generic/request', headers, body: body(turn) };
    const { status, tookMs } = await send(url, call);
    if (status !== 200) throw new Error(`A calm client got ${status}`);
    return tookMs;
  });
  return await Promise.all(answers);
}
