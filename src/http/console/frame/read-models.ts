/** Asks Postgres for a page. When Postgres is down, the console says so without giving the cause. */
import type { Log } from '../../../kernel/log.ts';
import { codeOf } from '../../../kernel/reason-of.ts';
import type { Context } from '../../server/context.ts';
import { HttpProblem } from '../../server/errors.ts';

/** The function returned resolves to the answers of the queries, and throws HttpProblem 503 when one of them fails. */
export function createAskReadModels({ log }: { log: Log }) {
  return async <Answers extends readonly unknown[]>(
    ctx: Context,
    queries: { [Index in keyof Answers]: Promise<Answers[Index]> },
    message = 'The read models do not answer; payments are still taken',
  ): Promise<Answers> => {
    try {
      return (await Promise.all(queries)) as unknown as Answers;
    } catch (error) {
      // Without the error itself, which may quote what was searched for.
      log.warn({ reason: codeOf(error), requestId: ctx.state.requestId }, 'the read models do not answer');
      throw new HttpProblem(503, message);
    }
  };
}
