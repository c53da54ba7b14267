/** Turns every error into one neutral answer; each interface presents it in its own way. */
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { KeysUnavailable } from '@ledger/personal-data/sealed.ts';
import { isConnectionFailure } from '@ledger/postgres/error-codes.ts';
import type { Next } from 'koa';
import table from '../../../content/refusals.json' with { type: 'json' };
import { RegistryUnavailable } from '../../clients/transaction-registry/answer.ts';
import { type RefusalCode, Refused } from '../../commands/decider.ts';
import { InvalidFields } from '../../commands/fields.ts';
import { UnreadableEvent } from '../../events/codec.ts';
import type { RegistryFault } from '../../events/payment-result.ts';
import { type Context, type ErrorAnswer, HttpProblem, type PresentError } from './context.ts';
import type { Dependencies } from './dependencies.ts';

type Refusal = { status: number; kind?: ErrorAnswer['kind']; code?: string };

/** Most refusals say that the command does not fit the state of things: 409. */
export const refusals = table as Readonly<Record<RefusalCode, Refusal>>;

const registryFaults: Readonly<Record<RegistryFault, [status: number, message: string]>> = {
  unreachable: [502, 'The transaction registry cannot be reached; try again later'],
  no_answer: [502, 'The transaction registry gave no usable answer; try again later'],
  too_late: [504, 'The transaction registry did not answer in time; try again later'],
};

const unavailable = 'The service is not available at the moment; try again in a few seconds';
const unavailableSeconds = 5;

/** Koa middleware around everything that can fail. `presenterOf` is how the interface at a path presents errors. */
export function createErrorAnswers({ log }: Dependencies, presenterOf: (path: string) => PresentError) {
  const answerWith = async (ctx: Context, answer: ErrorAnswer): Promise<void> => {
    ctx.status = answer.status;
    const retryAfter = answer.status === 503 ? unavailableSeconds : answer.retryAfterSeconds;
    if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
    await presenterOf(ctx.path)(ctx, answer);
  };
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
    } catch (error) {
      const { answer } = problemOf(error);
      const isExpected = error instanceof HttpProblem || error instanceof RegistryUnavailable;
      if (answer.status >= 500 && isExpected)
        log.warn({ reason: error.message, requestId: ctx.state.requestId }, 'request refused');
      else if (answer.status >= 500)
        log.error({ err: error, requestId: ctx.state.requestId }, 'request failed');
      return answerWith(ctx, answer);
    }
    // The router leaves a bare status where no route matches.
    if (ctx.body != null || ctx.status < 400) return;
    const message = ctx.status === 404 ? 'Not found' : 'Method not allowed';
    await answerWith(ctx, new HttpProblem(ctx.status, message).answer);
  };
}

/**
 * About what reading a body throws. The messages of parsers quote the body, so none is passed on. Parsers give a status or
 * no code. Any other error stays as it is, unless the caller has left: a gateway may not send a result again that is called
 * malformed because this process can open no more files.
 */
export function bodyProblem(error: unknown): unknown {
  if (error instanceof HttpProblem) return error;
  const { code, status } = Object(error);
  if (status === 413) return new HttpProblem(413, 'The request body is too large');
  if (status === undefined && code !== undefined && code !== 'ECONNRESET') return error;
  return new HttpProblem(400, 'The request body is malformed');
}

function problemOf(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error instanceof Refused) {
    const { status, ...more } = refusals[error.code];
    return new HttpProblem(status, error.message, more);
  }
  if (error instanceof InvalidFields)
    return new HttpProblem(400, error.message, { code: 'validation_failed' });
  if (error instanceof RegistryUnavailable) return new HttpProblem(...registryFaults[error.fault]);
  const isStoreAway = error instanceof EventStoreUnavailable || error instanceof KeysUnavailable;
  if (isStoreAway || isConnectionFailure(error)) return new HttpProblem(503, unavailable);
  if (error instanceof UnreadableEvent)
    return new HttpProblem(500, 'What was recorded of this cannot be read; the staff of the service see it');
  return new HttpProblem(500, 'Internal error');
}
