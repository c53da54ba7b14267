// A run: some cases at a time, what is checked after each answer, and the figures.
import { createCheck, type Description } from '../conformance/answers.ts';
import { exchange, send } from '../support/http-client.ts';
import { apiKey, gatewaySecret, type Memory, type Service } from '../support/served-ledger.ts';
import { runCase, shown } from './cases.ts';
import { createChance } from './chance.ts';
import { learn, newPayment, type Scene, unknownId } from './scene.ts';

export type Options = {
  seed: number;
  /** The number of the first case. */
  from: number;
  /** At least so many: the last cases run to their ends. */
  requests: number;
  /** Cases at a time. */
  inFlight: number;
  /** A case with a slower answer runs again alone, and then such an answer is a fault. */
  slowMs: number;
  /** Ends the run early. */
  signal?: AbortSignal;
};

/** `number` is that of the case; 0 if the fault belongs to none. */
type Fault = { number: number; text: string };

const maxFaults = 20;

/** Rejects if the service ends. */
export async function fuzz(service: Service, { seed, from, requests, inFlight, slowMs, signal }: Options) {
  const description = (await (await fetch(`${service.url}/openapi.json`)).json()) as Description;
  const check = createCheck(description);
  const operations = Object.entries(description.paths).flatMap(([path, group]) =>
    Object.entries(group).map(([method, described]) => ({ path, method, described })),
  );
  const faults: Fault[] = [];
  const counts = { requests: new Map<string, number>(), statuses: new Map<string, number>() };
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
  let sent = 0;
  let slowest: { kind: string; tookMs: number }[] = [];
  const slowCases = new Set<number>();
  let isAlone = inFlight === 1;

  function sceneOf(number: number, name: string): Scene {
    const fault = (text: string) => void faults.push({ number, text });
    const noteTime = (kind: string, tookMs: number): void => {
      slowest = [...slowest, { kind, tookMs }].sort((a, b) => b.tookMs - a.tookMs).slice(0, 10);
      if (tookMs <= slowMs) return;
      slowCases.add(number);
      if (isAlone) throw new Error(`took ${Math.round(tookMs)} ms with nothing beside it`);
    };
    const counted = async <T>(kind: string, request: string, work: () => Promise<T>): Promise<T | null> => {
      sent += 1;
      count(counts.requests, kind);
      return await work().catch((error) => {
        fault(`${kind}: ${error}: ${request}`);
        return null;
      });
    };
    const scene: Scene = {
      ...{ name, service, description, operations, fault, userId: unknownId },
      chance: createChance(seed, number),
      payments: { generic: newPayment(`G-${name}`), landreg: newPayment(`L-${name}`) },
      links: new Map(),
      ask: ({ described }, call) =>
        counted(described.operationId, shown(call), async () => {
          const answer = await send(service.url, call);
          const isBusy = answer.status === 503 && described.responses[503] !== undefined;
          count(counts.statuses, isBusy ? `503 ${described.operationId}` : String(answer.status));
          const wrong = isBusy ? null : check(described, answer);
          if (wrong) throw new Error(wrong);
          noteTime(described.operationId, answer.tookMs);
          learn(scene, call.path, answer);
          return answer;
        }),
      async askRaw(kind, bytes) {
        const start = JSON.stringify(bytes.parts.slice(0, 3).map((part) => String(part).slice(0, 300)));
        await counted(`raw: ${kind}`, start, async () => {
          const { statuses, tookMs } = await exchange(service.port, bytes);
          for (const status of statuses) count(counts.statuses, String(status));
          const wrong = statuses.find((status) => status >= 500 && status !== 503);
          if (wrong) throw new Error(`status ${wrong}`);
          noteTime(`raw: ${kind}`, tookMs);
        });
      },
    };
    return scene;
  }

  let next = from;
  const runUntil = async (limit: number): Promise<Memory> => {
    const worker = async () => {
      while (sent < limit && faults.length < maxFaults && !signal?.aborted) {
        const number = next;
        next += 1;
        await runCase(sceneOf(number, `${seed}-${number}`));
      }
    };
    await Promise.race([Promise.all(Array.from({ length: inFlight }, worker)), service.exited]);
    return service.memory();
  };
  const middle = await runUntil(requests / 2);
  const end = await runUntil(requests);
  const slowOnce = isAlone ? [] : [...slowCases];
  isAlone = true;
  for (const number of slowOnce) await runCase(sceneOf(number, `${seed}-${number}-again`));
  if ([gatewaySecret, apiKey].some((secret) => service.output().includes(secret)))
    faults.push({ number: 0, text: 'a secret is in the log' });
  return { faults, figures: { sent, ...counts, slowest, casesWithSlowAnswers: slowOnce, middle, end } };
}
