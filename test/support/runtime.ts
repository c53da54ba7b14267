/** The system's runtime with some of it replaced, for tests that set the clock. */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';

export function testRuntime(replaced: Partial<Runtime> = {}): Runtime {
  return { ...systemRuntime, ...replaced };
}
