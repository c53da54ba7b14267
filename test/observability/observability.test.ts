// The parts of packages/observability: gauges that are read when asked for, the admin port, and spans for a collector.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { inSpan, recordSpansWith } from '@ledger/kernel/tracing.ts';
import test, { type ExecutionContext } from 'ava';
import { startAdminServer } from '../../packages/observability/admin-server.ts';
import { createMetrics, type Reading } from '../../packages/observability/metrics.ts';
import { startTracing } from '../../packages/observability/tracing.ts';

function metricsAt(clock: { nowMs: number }) {
  const failures: string[] = [];
  const metrics = createMetrics({
    role: 'test',
    onFailure: (source) => failures.push(source),
    runtime: { monotonicMs: () => clock.nowMs, timeout: () => AbortSignal.timeout(50) },
  });
  return { metrics, failures };
}

const linesOf = (text: string, name: string) =>
  text.split('\n').filter((line) => line.startsWith(`${name}{`));

test('a source that fails or hangs is missing, and says so; all others are there', async (t) => {
  // The deadline of a source alone keeps no process alive.
  const alive = setInterval(() => undefined, 1_000);
  t.teardown(() => clearInterval(alive));
  const clock = { nowMs: 0 };
  const { metrics, failures } = metricsAt(clock);
  let reads = 0;
  let answer: () => Promise<readonly Reading[]> = async () => [['queue', 3, 'a']];
  const gauges = { queue: 'What waits' };
  const read = () => {
    reads += 1;
    return answer();
  };
  metrics.addSource({ name: 'fragile', gauges, label: 'kind', read });
  metrics.addSource({
    name: 'plain',
    gauges: { age: 'An age' },
    read: async () => (reads > 1 ? [] : [['age', 7]]),
  });
  const first = await metrics.text();
  t.deepEqual(linesOf(first, 'queue'), ['queue{kind="a",role="test"} 3']);
  t.deepEqual(linesOf(first, 'age'), ['age{role="test"} 7']);
  await Promise.all([metrics.text(), metrics.text()]);
  t.is(reads, 1, 'kept for some seconds');

  const hanging = Promise.withResolvers<never>();
  for (const fail of [() => Promise.reject(new Error('away')), () => hanging.promise]) {
    answer = fail;
    clock.nowMs += 5_000;
    const text = await metrics.text();
    t.deepEqual(linesOf(text, 'queue'), []);
    t.deepEqual(linesOf(text, 'age'), [], 'a gauge that has no value is missing, not 0');
    t.deepEqual(linesOf(text, 'ledger_source_up'), [
      'ledger_source_up{source="fragile",role="test"} 0',
      'ledger_source_up{source="plain",role="test"} 1',
    ]);
  }
  t.deepEqual(failures, ['fragile', 'fragile']);
  hanging.reject(new Error('late'));

  const late = Promise.withResolvers<readonly Reading[]>();
  answer = () => late.promise;
  const before = reads;
  for (const _ of [1, 2, 3]) {
    clock.nowMs += 5_000;
    t.deepEqual(linesOf(await metrics.text(), 'queue'), []);
  }
  t.is(reads, before + 1, 'not begun again before it has ended');
  late.resolve([]);
  await late.promise;

  answer = async () => [['queue', 4, 'b']];
  clock.nowMs += 5_000;
  t.deepEqual(linesOf(await metrics.text(), 'queue'), ['queue{kind="b",role="test"} 4']);
});

async function startAdmin(t: ExecutionContext, port: number, anyPort: boolean, reasons: string[] = []) {
  const { metrics } = metricsAt({ nowMs: 0 });
  const readiness = async () => ({ reasons, role: 'test' });
  const server = await startAdminServer({
    ...{ host: '127.0.0.1', port, anyPort, readiness, metrics },
    onError: (error) => t.fail(String(error)),
  });
  t.teardown(server.close);
  return { port: server.port, get: (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`) };
}

test('the admin port: alive, ready or why not, metrics, nothing else', async (t) => {
  const reasons: string[] = [];
  const { get } = await startAdmin(t, 0, false, reasons);
  t.is((await get('/livez')).status, 200);
  t.deepEqual(await (await get('/readyz')).json(), { status: 'ready', reasons: [], role: 'test' });
  reasons.push('postgres: down');
  const notReady = await get('/readyz?verbose');
  t.is(notReady.status, 503);
  t.like(await notReady.json(), { status: 'not ready', reasons: ['postgres: down'] });
  t.is((await get('/livez')).status, 200);
  const metrics = await get('/metrics');
  t.regex(metrics.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  t.regex(await metrics.text(), /^nodejs_eventloop_lag_p99_seconds\{role="test"\}/m);
  t.is((await get('/')).status, 404);
});

test('a port that is taken is a fault if it was chosen; otherwise another one is used', async (t) => {
  const { port } = await startAdmin(t, 0, false);
  await t.throwsAsync(startAdmin(t, port, false), { code: 'EADDRINUSE' });
  const other = await startAdmin(t, port, true);
  t.not(other.port, port);
  t.is((await other.get('/livez')).status, 200);
});

test.serial(
  'spans go to the collector: below the caller’s, nested, with an error’s name and no message',
  async (t) => {
    type Span = {
      name: string;
      traceId: string;
      spanId: string;
      parentSpanId?: string;
      attributes: { key: string; value: Record<string, unknown> }[];
      status: { code?: number; message?: string };
    };
    type Export = { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
    const spans: Span[] = [];
    const collector = createServer(async (request, response) => {
      const { resourceSpans } = (await json(request)) as Export;
      if (request.url === '/v1/traces')
        spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
    t.teardown(() => collector.close());

    t.is(await inSpan('before', {}, async () => 'works'), 'works');
    const { port } = collector.address() as AddressInfo;
    const tracing = startTracing({ endpoint: `http://127.0.0.1:${port}`, service: 'test', version: '1' });
    recordSpansWith(tracing.span);
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const refused = inSpan(
      'request',
      { route: '/x' },
      async (note) => {
        note({ status: 500 });
        await inSpan('append', {}, () => Promise.reject(new RangeError('IC 800101-14-5566')));
      },
      { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    );
    await t.throwsAsync(refused, { instanceOf: RangeError });
    await tracing.stop();

    const named = (name: string) => spans.find((span) => span.name === name);
    t.is(spans.length, 2);
    t.like(named('request'), { traceId, parentSpanId: 'b7ad6b7169203331' });
    t.like(named('append'), { traceId, parentSpanId: named('request')?.spanId });
    t.is(named('append')?.status.code, 2);
    t.notRegex(JSON.stringify(spans), /800101/);
    const attributes = named('request')?.attributes.map(({ key }) => key) ?? [];
    t.true(['route', 'status', 'error.type'].every((key) => attributes.includes(key)));
  },
);
