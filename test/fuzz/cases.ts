// The three kinds of case. Each makes what it needs itself, so that its number and the seed are enough to replay it.
import type { Call } from '../support/http-client.ts';
import { callOf } from './operations.ts';
import { raws } from './raw.ts';
import { channelOf, type Operation, type Scene } from './scene.ts';

export async function runCase(scene: Scene): Promise<void> {
  const { chance } = scene;
  const kind = chance.below(10);
  if (kind < 4) return probe(scene);
  if (kind < 8) return journey(scene);
  for (let connections = 10; connections > 0; connections -= 1) {
    const [name, bytesOf] = chance.pick(Object.entries(raws));
    await scene.askRaw(name, bytesOf(chance));
  }
}

/** One operation again and again, each time with other faults, about a user or a payment that exists. */
async function probe(scene: Scene): Promise<void> {
  const operation = pickOperation(scene.operations, scene);
  const channel = channelOf(operation.path);
  const preparations = [`post /${channel}/request`, `get /${channel}/pay/{id}`];
  if (operation.path.includes('receipt')) preparations.push(`post /${channel}/response`);
  if (operation.path.startsWith('/api')) preparations.push('post /api/v1/users');
  for (const each of scene.operations)
    if (preparations.includes(`${each.method} ${each.path}`)) await scene.ask(each, callOf(each, scene, 0));
  for (let requests = 8; requests > 0; requests -= 1) {
    const risk = scene.chance.pick([0.1, 0.3, 0.6]);
    await scene.ask(operation, callOf(operation, scene, risk));
  }
}

/** A payment with all that may be done to it, in any order, some of it twice. Once it is paid it stays paid. */
async function journey(scene: Scene): Promise<void> {
  const { chance } = scene;
  const channel = chance.pick(['generic', 'landreg'] as const);
  const ofPayments = new RegExp(`^/${channel}/(request|requery|response|pay|receipt|download)`);
  const operations = scene.operations.filter(({ path }) => ofPayments.test(path));
  const start = operations.find(({ path }) => path.endsWith('/request')) as Operation;
  const asked = callOf(start, scene, 0);
  const request = { ...asked, headers: { ...asked.headers, accept: 'application/json' } };
  const idAndStatus = async () => {
    const answer = await scene.ask(start, request);
    return /"transaction_id":"(\w+)".*"status":"(\d)"/.exec(answer?.body ?? '')?.slice(1) ?? [];
  };
  const [first] = await idAndStatus();
  let isPaid = false;
  for (let steps = 6 + chance.below(8); steps > 0; steps -= 1) {
    const operation = pickOperation(operations, scene);
    const call = callOf(operation, scene, chance.pick([0, 0, 0, 0.2]));
    const answer = await scene.ask(operation, call);
    const again = chance.happens(0.3) ? await scene.ask(operation, call) : answer;
    if (call.path.endsWith('/response') && again?.status !== answer?.status)
      scene.fault(`the same result got ${answer?.status} and then ${again?.status}: ${shown(call)}`);
    if (chance.happens(0.2)) await payAtGateway(scene, channel);
    const [id = first, status] = steps === 1 || chance.happens(0.2) ? await idAndStatus() : [];
    if (id !== first || (isPaid && status && status !== '1'))
      scene.fault(`paid: ${isPaid}, payment ${first} is now ${id}, status ${status}: ${shown(request)}`);
    isPaid ||= status === '1';
  }
}

/** What the payer's browser and the gateway do; from then on the registry knows the payment. */
async function payAtGateway({ chance, payments, service }: Scene, channel: 'generic' | 'landreg') {
  const form = payments[channel].handOver;
  if (!form) return;
  payments[channel].handOver = null;
  const outcome = chance.pick(['approve', 'decline', 'cancel', 'leave-pending']);
  const decision = { outcome, delivery: chance.pick(['none', 'server']) };
  for (const [path, fields] of [
    ['', form] as const,
    [`orders/${form.MERCHANT_ORDER_NO}`, decision] as const,
  ]) {
    const body = new URLSearchParams(fields);
    await fetch(`${service.sandboxUrl}/${path}`, { method: 'POST', body, redirect: 'manual' });
  }
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
