/** The system's runtime with some of it replaced, for tests that set the clock. */
import type { Runtime } from '../../src/kernel/runtime.ts';
import { systemRuntime } from '../../src/kernel/system-runtime.ts';

export function testRuntime(replaced: Partial<Runtime> = {}): Runtime {
  return { ...systemRuntime, ...replaced };
}
