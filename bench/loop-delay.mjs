// Preloaded into a process of the ledger: answers each message with the p99 of its event loop's delay since the last, in ms.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.send) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on('message', () => {
    process.send({ p99Ms: delay.percentile(99) / 1e6 });
    delay.reset();
  });
  process.channel.unref();
}
