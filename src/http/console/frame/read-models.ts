/** Asking Postgres for a page: when it is away the console says so, and nothing else about it. */
import type { Log } from '../../../kernel/log.ts';
import type { Context } from '../../server/context.ts';
import { ConsoleProblem } from './problem.ts';

/** What the queries come to. Throws ConsoleProblem 503 when one of them fails. */
export async function askReadModels<Answers extends readonly unknown[]>(
  ctx: Context,
  log: Log,
  queries: { [Index in keyof Answers]: Promise<Answers[Index]> },
): Promise<Answers> {
  try {
    return (await Promise.all(queries)) as unknown as Answers;
  } catch (error) {
    // Not the error itself: what was asked for may be in it.
    const reason = error instanceof Error ? (Reflect.get(error, 'code') ?? error.name) : typeof error;
    log.warn({ reason, requestId: ctx.state.requestId }, 'the read models do not answer');
    throw new ConsoleProblem(503, 'The read models do not answer; payments themselves go on');
  }
}
