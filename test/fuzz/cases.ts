// The three kinds of case. Each makes what it needs itself, so that its number and the seed are enough to replay it.
import type { Answer, Bytes, Call } from './client.ts';
import { callOf, type Operation, type RequestContext } from './operations.ts';
import { raws } from './raw.ts';
import { type Channel, channelOf, type Scene } from './scene.ts';

export type CaseContext = RequestContext & {
  operations: readonly Operation[];
  /** Sends, checks and counts; null if there was no answer. */
  ask(scene: Scene, operation: Operation, call: Call): Promise<Answer | null>;
  askRaw(kind: string, bytes: Bytes): Promise<void>;
  fault(text: string): void;
};

export async function runCase(scene: Scene, context: CaseContext): Promise<void> {
  const { chance } = scene;
  const kind = chance.below(10);
  if (kind < 4) return probe(scene, context);
  if (kind < 8) return journey(scene, context);
  for (let connections = 10; connections > 0; connections -= 1) {
    const [name, bytesOf] = chance.pick(Object.entries(raws));
    await context.askRaw(name, bytesOf(chance));
  }
}

/** One operation again and again, each time with other faults, about a user or a payment that exists. */
async function probe(scene: Scene, context: CaseContext): Promise<void> {
  const operation = pickOperation(context.operations, scene);
  const channel = channelOf(operation.path);
  const preparations = operation.path.startsWith('/api')
    ? ['post /api/v1/users']
    : [`post /${channel}/request`, `get /${channel}/pay/{id}`];
  if (operation.path.includes('receipt')) preparations.push(`post /${channel}/response`);
  const prepared = preparations.map((name) => context.operations.find((each) => nameOf(each) === name));
  for (const each of prepared) if (each) await context.ask(scene, each, callOf(each, scene, 0, context));
  for (let requests = 8; requests > 0; requests -= 1)
    await context.ask(
      scene,
      operation,
      callOf(operation, scene, scene.chance.pick([0.1, 0.3, 0.6]), context),
    );
}

const nameOf = ({ method, path }: Operation) => `${method} ${path}`;

/** A payment with all that may be done to it, in any order, some of it twice. Once it is paid it stays paid. */
async function journey(scene: Scene, context: CaseContext): Promise<void> {
  const { chance } = scene;
  const channel = chance.pick(['generic', 'landreg'] as const);
  const ofPayments = new RegExp(`^/${channel}/(request|requery|response|pay|receipt|download)`);
  const operations = context.operations.filter(({ path }) => ofPayments.test(path));
  const start = operations.find(({ path }) => path.endsWith('/request')) as Operation;
  const asked = callOf(start, scene, 0, context);
  const request = { ...asked, headers: { ...asked.headers, accept: 'application/json' } };
  const idAndStatus = async () => {
    const answer = await context.ask(scene, start, request);
    return /"transaction_id":"(\w+)".*"status":"(\d)"/.exec(answer?.body ?? '')?.slice(1) ?? [];
  };
  const [first] = await idAndStatus();
  let isPaid = false;
  for (let steps = 6 + chance.below(8); steps > 0; steps -= 1) {
    const operation = pickOperation(operations, scene);
    const call = callOf(operation, scene, chance.pick([0, 0, 0, 0.2]), context);
    const answer = await context.ask(scene, operation, call);
    const again = chance.happens(0.3) ? await context.ask(scene, operation, call) : answer;
    if (call.path.endsWith('/response') && again?.status !== answer?.status)
      context.fault(`the same result got ${answer?.status} and then ${again?.status}: ${shown(call)}`);
    if (chance.happens(0.2)) await payAtGateway(scene, channel, context);
    const [id = first, status] = steps === 1 || chance.happens(0.2) ? await idAndStatus() : [];
    if (id !== first || (isPaid && status && status !== '1'))
      context.fault(`paid: ${isPaid}, payment ${first} is now ${id}, status ${status}: ${shown(request)}`);
    isPaid ||= status === '1';
  }
}

/** What the payer's browser and the gateway do; from then on the registry knows the payment. */
async function payAtGateway({ chance, payments }: Scene, channel: Channel, { service }: CaseContext) {
  const form = payments[channel].handOver;
  if (!form) return;
  payments[channel].handOver = null;
  const post = async (path: string, fields: Record<string, string>) =>
    (
      await fetch(service.sandboxUrl + path, {
        method: 'POST',
        body: new URLSearchParams(fields),
        redirect: 'manual',
      })
    ).text();
  await post('/', form);
  const outcome = chance.pick(['approve', 'decline', 'cancel', 'leave-pending']);
  await post(`/orders/${form.MERCHANT_ORDER_NO}`, { outcome, delivery: chance.pick(['none', 'server']) });
}

/** Few PDFs: each takes as long as fifty pages. */
function pickOperation(operations: readonly Operation[], { chance }: Scene): Operation {
  const picked = chance.pick(operations);
  return picked.path.includes('/download/') && chance.happens(0.8) ? chance.pick(operations) : picked;
}

/** A request as a fault names it. */
export function shown({ method, path, headers, body }: Call): string {
  return `${method.toUpperCase()} ${path} ${JSON.stringify(headers)} ${String(body ?? '').slice(0, 600)}`;
}
