/**
 * Threads that draw PDFs: one for receipts, of which each takes some 10 ms of CPU, and one for long statements, which
 * take seconds. Others who use the process would wait that long. A thread starts with its first document, and ends when
 * none was asked for in a while, because it takes 110 MB.
 */
import type { Log } from '@ledger/kernel/log.ts';
import type { Piscina } from 'piscina';
import type { Documents } from '../statements/document.ts';

/** Without limits of memory, V8 lets the thread of receipts grow to 240 MB. */
const resourceLimits = { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 512 };
const limits = { minThreads: 0, maxThreads: 1, idleTimeout: 5 * 60_000, resourceLimits };
const filename = new URL('./pdf-worker.ts', import.meta.url).href;
const threads = new Map<keyof Documents, Promise<Piscina>>();

async function startThread(kind: keyof Documents, log: Log): Promise<Piscina> {
  const { Piscina } = await import('piscina');
  const thread = new Piscina({ filename, name: kind, ...limits });
  // An error of a thread that was drawing nothing would end the process without a listener.
  thread.on('error', (err) => log.error({ err, kind }, 'a thread that draws PDFs failed'));
  // Piscina starts a new thread only when another document is asked for; what is queued would wait for that.
  const rejectQueued = () => {
    if (thread.threads.length === 0) void thread.destroy();
  };
  thread.on('workerDestroy', () => queueMicrotask(rejectQueued));
  return thread;
}

/**
 * The roles of a process share them. Each draws one document after another. If a thread ends, what it was drawing and
 * what waited for it is rejected, and another is started for the next one.
 */
export function pdfThreads(log: Log): Documents {
  async function draw(kind: keyof Documents, args: unknown[]): Promise<Buffer> {
    const thread = threads.get(kind) ?? startThread(kind, log);
    threads.set(kind, thread);
    thread.catch(() => threads.delete(kind));
    const { buffer, byteOffset, byteLength }: Uint8Array = await (await thread).run(args);
    return Buffer.from(buffer, byteOffset, byteLength);
  }
  return {
    receipt: (...args) => draw('receipt', args),
    collection: (...args) => draw('collection', args),
  };
}
