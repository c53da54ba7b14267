// `ledger serve` on a data folder, with its sandbox, and what is asked of it other than by HTTP.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../packages/embedded/free-port.ts';

const main = fileURLToPath(new URL('../../src/ledger.js', import.meta.url));

export const gatewaySecret = 'a-gateway-secret-of-the-fuzzer-alone';
export const apiKey = 'an-api-key-of-the-fuzzer-alone';

export type Memory = { heapUsed: number; rss: number };
export type Service = Awaited<ReturnType<typeof startService>>;

/** A module that tells the memory of its process, after a collection, whenever it is asked over the channel. */
const memoryProbe = `data:text/javascript,process.on('message', () => {
  gc();
  process.send(process.memoryUsage());
})`;

/** Resolves when it listens. Its limits are so high that they hide nothing behind a 429. */
export async function startService(dataDir: string) {
  const [port, sandboxPort] = [await freePort(), await freePort()];
  const { PATH, NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = process.env;
  const env = {
    ...{ PATH, NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE },
    ...{ PORT: String(port), SANDBOX_PORT: String(sandboxPort), DATA_DIR: dataDir },
    LOG_LEVEL: 'warn',
    API_KEYS: apiKey,
    GATEWAY_SECRET: gatewaySecret,
    // The same in every run, so that a replayed case has the same transaction ids.
    TRANSACTION_ID_KEY: 'a-transaction-id-key-of-the-fuzzer-alone',
    RATE_LIMIT_FAILURES: '1000000',
    RATE_LIMIT_CALLS: '1000000',
    RATE_LIMIT_PAGES: '1000000',
  };
  const args = ['--expose-gc', '--import', memoryProbe, main, 'serve'];
  // Ctrl-C is for the fuzzer alone.
  const child = spawn(process.execPath, args, {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  const listening = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += chunk;
      if (output.includes('is running')) listening.resolve();
    });
  const exited = once(child, 'exit').then(() => Promise.reject(new Error(`It has ended:\n${output}`)));
  exited.catch(() => undefined);
  await Promise.race([listening.promise, exited]);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    sandboxUrl: `http://127.0.0.1:${sandboxPort}`,
    output: () => output,
    exited,
    async memory(): Promise<Memory> {
      child.send('memory');
      const [memory] = await Promise.race([once(child, 'message'), exited]);
      return memory;
    },
    /** What `ledger verify` prints, and whether it has found nothing. */
    verify: () =>
      new Promise<{ isClean: boolean; report: string }>((resolve) => {
        execFile(process.execPath, [main, 'verify'], { env }, (error, stdout, stderr) =>
          resolve({ isClean: error === null, report: stdout + stderr }),
        );
      }),
    async stop(): Promise<void> {
      if (child.kill('SIGTERM')) await exited.catch(() => undefined);
    },
  };
}
