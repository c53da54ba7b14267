// A run: some cases at a time, what is checked after each answer, and the figures.
import { createCheck, type Description } from '../conformance/answers.ts';
import { exchange, send } from '../support/http-client.ts';
import { apiKey, gatewaySecret, type Memory, type Service } from '../support/served-ledger.ts';
import { runCase, shown } from './cases.ts';
import { createChance } from './chance.ts';
import { learn, newPayment, type Operation, type Scene, unknownId } from './scene.ts';

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

type Timed = { tookMs: number };
const maxFaults = 20;

function createTally() {
  const requests = new Map<string, number>();
  const statuses = new Map<string, number>();
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
  const figures = { requests, statuses, sent: 0, slowest: [] as { kind: string; tookMs: number }[] };
  return {
    figures,
    request(kind: string): void {
      figures.sent += 1;
      count(requests, kind);
    },
    status: (status: string) => void count(statuses, status),
    time(kind: string, tookMs: number): void {
      figures.slowest.push({ kind, tookMs });
      figures.slowest = figures.slowest.sort((a, b) => b.tookMs - a.tookMs).slice(0, 10);
    },
  };
}

const operationsOf = ({ paths }: Description): Operation[] =>
  Object.entries(paths).flatMap(([path, group]) =>
    Object.entries(group).map(([method, described]) => ({ path, method, described })),
  );

/** Rejects if the service ends. (Above 70 lines, because all of it shares the faults and figures of the run.) */
export async function fuzz(service: Service, { seed, from, requests, inFlight, slowMs, signal }: Options) {
  const description = (await (await fetch(`${service.url}/openapi.json`)).json()) as Description;
  const check = createCheck(description);
  const tally = createTally();
  const faults: Fault[] = [];
  const slowCases = new Set<number>();
  let isAlone = inFlight === 1;

  function sceneOf(number: number, name: string): Scene {
    const fault = (text: string) => void faults.push({ number, text });
    const counted = async <A extends Timed>(kind: string, sent: string, work: () => Promise<A>) => {
      tally.request(kind);
      try {
        const answer = await work();
        tally.time(kind, answer.tookMs);
        if (answer.tookMs > slowMs) slowCases.add(number);
        if (answer.tookMs > slowMs && isAlone) throw new Error('is slow with nothing beside it');
        return answer;
      } catch (error) {
        fault(`${kind}: ${error}: ${sent}`);
        return null;
      }
    };
    const scene: Scene = {
      ...{ name, service, description, fault, userId: unknownId },
      operations: operationsOf(description),
      chance: createChance(seed, number),
      payments: { generic: newPayment(`G-${name}`), landreg: newPayment(`L-${name}`) },
      links: new Map(),
      ask: ({ described }, call) =>
        counted(described.operationId, shown(call), async () => {
          const answer = await send(service.url, call);
          const isBusy = answer.status === 503 && described.responses[503] !== undefined;
          tally.status(isBusy ? `503 ${described.operationId}` : String(answer.status));
          const wrong = isBusy ? null : check(described, answer);
          if (wrong) throw new Error(wrong);
          learn(scene, call.path, answer);
          return answer;
        }),
      async askRaw(kind, bytes) {
        const start = JSON.stringify(bytes.parts.slice(0, 3).map((part) => String(part).slice(0, 300)));
        await counted(`raw: ${kind}`, start, async () => {
          const answer = await exchange(service.port, bytes);
          for (const status of answer.statuses) tally.status(String(status));
          const wrong = answer.statuses.find((status) => status >= 500 && status !== 503);
          if (wrong) throw new Error(`status ${wrong}`);
          return answer;
        });
      },
    };
    return scene;
  }

  let next = from;
  const runUntil = async (limit: number): Promise<Memory> => {
    const worker = async () => {
      while (tally.figures.sent < limit && faults.length < maxFaults && !signal?.aborted) {
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
  return { faults, figures: { ...tally.figures, casesWithSlowAnswers: slowOnce, middle, end } };
}
