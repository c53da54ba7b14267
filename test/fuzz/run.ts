// A run: many cases at a time, what is checked after each answer, and the figures.
import { createCheck, type Description } from '../conformance/answers.ts';
import { type CaseContext, runCase, shown } from './cases.ts';
import { createChance } from './chance.ts';
import { exchange, send } from './client.ts';
import { operationsOf } from './operations.ts';
import { createScene, learn } from './scene.ts';
import { apiKey, gatewaySecret, type Memory, type Service } from './service.ts';

export type Options = {
  seed: number;
  /** At least so many, counting every request of each case. */
  requests: number;
  /** The number of the only case to run. */
  only?: number | undefined;
  /** A case with a slower answer runs again alone, and then such an answer is a fault. */
  slowMs: number;
  /** Ends the run early. */
  signal?: AbortSignal;
};

/** `number` is that of the case; 0 if the fault belongs to none. */
export type Fault = { number: number; text: string };

const inFlight = 4;
const maxFaults = 20;

/** Rejects if the service ends. */
export async function fuzz(service: Service, { slowMs, ...options }: Options) {
  const description = (await (await fetch(`${service.url}/openapi.json`)).json()) as Description;
  const check = createCheck(description);
  const operations = operationsOf(description);
  const faults: Fault[] = [];
  const counts = { requests: new Map<string, number>(), statuses: new Map<string, number>() };
  let slowest: { kind: string; tookMs: number }[] = [];
  const slowCases = new Set<number>();
  let isAlone = options.only !== undefined;
  let sent = 0;
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);

  async function timed<A extends { tookMs: number }>(
    kind: string,
    number: number,
    request: () => Promise<A>,
  ) {
    sent += 1;
    count(counts.requests, kind);
    const answer = await request();
    const { tookMs } = answer;
    slowest = [...slowest, { kind, tookMs }].sort((a, b) => b.tookMs - a.tookMs).slice(0, 10);
    if (tookMs <= slowMs) return answer;
    if (isAlone) throw new Error(`took ${Math.round(tookMs)} ms with nothing beside it`);
    slowCases.add(number);
    return answer;
  }

  const contextOf = (number: number): CaseContext => ({
    ...{ service, description, operations },
    fault: (text) => void faults.push({ number, text }),
    async ask(scene, { described }, call) {
      const kind = described.operationId;
      try {
        const answer = await timed(kind, number, () => send(service.url, call));
        count(counts.statuses, answer.status === 503 ? `503 ${kind}` : String(answer.status));
        const isBusy = answer.status === 503 && described.responses[503] !== undefined;
        const wrong = isBusy ? null : check(described, answer);
        if (wrong) throw new Error(wrong);
        learn(scene, call.path, answer);
        return answer;
      } catch (error) {
        faults.push({ number, text: `${kind}: ${error}: ${shown(call)}` });
        return null;
      }
    },
    async askRaw(kind, bytes) {
      try {
        const { statuses } = await timed(`raw: ${kind}`, number, () => exchange(service.port, bytes));
        for (const status of statuses) count(counts.statuses, String(status));
        const wrong = statuses.find((status) => status >= 500 && status !== 503);
        if (wrong) throw new Error(`status ${wrong}`);
      } catch (error) {
        const sentBytes = JSON.stringify(bytes.parts.map((part) => String(part).slice(0, 300))).slice(0, 700);
        faults.push({ number, text: `raw: ${kind}: ${error}: ${sentBytes}` });
      }
    },
  });

  let next = 1;
  const run = (number: number, name = `${options.seed}-${number}`): Promise<void> =>
    runCase(createScene(createChance(options.seed, number), name), contextOf(number));
  const runUntil = async (limit: number): Promise<Memory> => {
    const worker = async () => {
      while (sent < limit && faults.length < maxFaults && !options.signal?.aborted) await run(next++);
    };
    await Promise.race([Promise.all(Array.from({ length: inFlight }, worker)), service.exited]);
    return service.memory();
  };
  if (options.only !== undefined) await run(options.only);
  const middle = await runUntil(options.only === undefined ? options.requests / 2 : 0);
  const end = await runUntil(options.only === undefined ? options.requests : 0);
  isAlone = true;
  for (const number of slowCases) await run(number, `${options.seed}-${number}-again`);
  if ([gatewaySecret, apiKey].some((secret) => service.output().includes(secret)))
    faults.push({ number: 0, text: 'a secret is in the log' });
  return { faults, figures: { ...counts, sent, slowest, slowCases: slowCases.size, middle, end } };
}
