/** What witnesses answer is not trusted: an answer without an end takes neither memory nor time. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { offerTo } from '@ledger/transparency-log/offer-to-witnesses.ts';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { testRuntime } from '../support/runtime.ts';

const note = 'a note\n\n— log.example AAAAAAAA\n';

/** Offers a checkpoint to a witness that answers so and signs nothing; resolves to the reasons that were logged. */
async function offerToWitness(
  t: ExecutionContext,
  answer: RequestListener,
  runtime = systemRuntime,
): Promise<string[]> {
  const server = createServer(answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const warned: string[] = [];
  const log = pino({}, { write: (line: string) => void warned.push(JSON.parse(line).reason) });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const offer = offerTo([url], { post: fetch, runtime, log });
  t.is(await offer(note, async () => []), '');
  return warned;
}

for (const status of [302, 307])
  test(`a witness that answers ${status} sends nobody to another address`, async (t) => {
    const asked: (string | undefined)[] = [];
    const warned = await offerToWitness(t, (request, response) => {
      asked.push(request.url);
      request.resume();
      response.writeHead(status, { Location: '/inside' }).end();
    });
    t.deepEqual(asked, ['/add-checkpoint']);
    t.deepEqual(warned, [`It answered ${status}`]);
  });

test('an endless answer is read for its first 4 KB, also where it is compressed', async (t) => {
  const warned = await offerToWitness(t, (request, response) => {
    request.resume();
    response.writeHead(200, { 'Content-Encoding': 'gzip' });
    const endless = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(1024 * 1024, 'a');
      })(),
    );
    endless.pipe(createGzip()).pipe(response);
    response.on('close', () => endless.destroy());
  });
  t.deepEqual(warned, ['It answered 200']);
});

test('a witness that never answers, or not to the end, holds up no seal', async (t) => {
  t.timeout(20_000);
  const runtime = testRuntime({ timeout: () => AbortSignal.timeout(200) });
  const silent: RequestListener[] = [() => {}, (_, response) => response.writeHead(200).write('— ')];
  for (const answer of silent)
    t.deepEqual(await offerToWitness(t, answer, runtime), ['The operation was aborted due to timeout']);
});

test('an answer of 200 that would leave the checkpoint without a signature, or unreadable, is not taken', async (t) => {
  const warned: string[] = [];
  const log = pino({}, { write: (line: string) => void warned.push(JSON.parse(line).reason) });
  const line = '— witness.example AAAAAAAA\n';
  const offering = async (...answers: string[]) => {
    const post = async (url: unknown) => new Response(answers[Number(new URL(String(url)).port) - 1]);
    const urls = answers.map((_, index) => `http://witness.example:${index + 1}`);
    return await offerTo(urls, { post, runtime: systemRuntime, log })(note, async () => []);
  };
  t.is(await offering(line.repeat(31)), line.repeat(31));
  t.is(await offering(line.repeat(15), line), line.repeat(16));
  t.deepEqual(warned, []);
  for (const answer of ['', `\n${line}${line}`, `${line}no signature\n`, line.repeat(16)])
    t.is(await offering(answer, line), line, answer);
  t.deepEqual(warned, Array(4).fill('It answered 200'));
});

test('a witness that has signed more is asked once more, with the proof from there', async (t) => {
  const warned: string[] = [];
  const log = pino({}, { write: (line: string) => void warned.push(JSON.parse(line).reason) });
  const signature = '— witness.example AAAAAAAA\n';
  const offering = async (answers: readonly Response[], hashes: Buffer[] | null) => {
    const asked: string[] = [];
    const post = async (_: unknown, { body }: RequestInit = {}) => {
      asked.push(String(body).split('\n\n')[0] ?? '');
      return answers[asked.length - 1] ?? new Response('', { status: 500 });
    };
    const offer = offerTo(['http://witness.example'], { post, runtime: systemRuntime, log });
    const line = await offer(note, async (size) => (size === 0 ? [] : hashes));
    return { asked, line };
  };
  const conflict = () => new Response('5\n', { status: 409 });
  const proof = Buffer.alloc(32).toString('base64');
  // The dash of the signature has three bytes.
  const bytes = new ReadableStream({
    start(controller) {
      for (const each of Buffer.from(signature)) controller.enqueue(Buffer.of(each));
      controller.close();
    },
  });
  t.deepEqual(await offering([conflict(), new Response(bytes)], [Buffer.alloc(32)]), {
    asked: ['old 0', `old 5\n${proof}`],
    line: signature,
  });
  t.deepEqual(warned, []);
  t.is((await offering([conflict(), conflict(), new Response(signature)], [])).line, '');
  t.is((await offering([conflict(), new Response(signature)], null)).line, '');
  t.is((await offering([new Response('many\n', { status: 409 }), new Response(signature)], [])).line, '');
  t.is((await offering([new Response(signature, { status: 500 })], [])).line, '');
  t.deepEqual(warned, [
    'It answered 409',
    'It has signed a checkpoint of 5 events, which are more than this log has',
    'It answered 409',
    'It answered 500',
  ]);
});

test('a witness that cannot be reached: the reason says what was in the way', async (t) => {
  const warned: string[] = [];
  const log = pino({}, { write: (line: string) => void warned.push(JSON.parse(line).reason) });
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const offer = offerTo([`http://127.0.0.1:${port}`], { post: fetch, runtime: systemRuntime, log });
  t.is(await offer(note, async () => []), '');
  t.deepEqual(warned, [`connect ECONNREFUSED 127.0.0.1:${port}`]);
});
