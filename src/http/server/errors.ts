/** The one place that turns whatever went wrong into a status and a body: JSON for programs, a page for people. */
import type { Next } from 'koa';
import { type RegistryFault, RegistryUnavailable } from '../../clients/registry/answer.ts';
import { type RefusalCode, Refused } from '../../commands/decider.ts';
import { InvalidFields } from '../../commands/fields.ts';
import { EventStoreUnavailable } from '../../eventstore/event-store.ts';
import type { Log } from '../../kernel/log.ts';
import { ApiProblem, codeOfStatus, type ErrorCode, isApiPath } from '../api/problem.ts';
import { isConsolePath, signInPath } from '../console/frame/addresses.ts';
import type { ShowPage } from '../console/frame/frame.ts';
import { ConsoleProblem } from '../console/frame/problem.ts';
import type { ErrorPage } from '../pay/models.ts';
import { type Context, languageOf, seeOther } from './context.ts';

type Problem = ErrorPage['problem'];

/** An answer other than success that a handler gives; the message names fields, never values. */
export class HttpProblem extends Error {
  override name = 'HttpProblem';
  readonly status: number;
  readonly problem: Problem;
  /** Where the page's button leads. */
  readonly actionUrl: string | undefined;
  constructor(status: number, problem: Problem, message: string, actionUrl?: string) {
    super(message);
    this.status = status;
    this.problem = problem;
    this.actionUrl = actionUrl;
  }
}

type Answer = Pick<HttpProblem, 'status' | 'problem' | 'message'> & {
  actionUrl?: string | undefined;
  /** For /api/v1, where the status alone does not tell. */
  code?: ErrorCode;
};

const refusals: Readonly<Record<RefusalCode, Omit<Answer, 'message'>>> = {
  request_differs: { status: 409, problem: 'conflict' },
  unknown_payment: { status: 404, problem: 'paymentNotFound' },
  payment_pending: { status: 409, problem: 'alreadyPaid' },
  payment_succeeded: { status: 409, problem: 'alreadyPaid' },
  too_many_attempts: { status: 409, problem: 'tooManyAttempts' },
  unmatched_result: { status: 404, problem: 'paymentNotFound' },
  unknown_delivery: { status: 404, problem: 'paymentNotFound' },
  delivery_superseded: { status: 409, problem: 'conflict' },
  unknown_exception: { status: 404, problem: 'paymentNotFound' },
  exception_resolved: { status: 409, problem: 'conflict' },
  no_money_in_suspense: { status: 409, problem: 'conflict' },
  email_taken: { status: 400, problem: 'conflict', code: 'email_taken' },
  unknown_user: { status: 404, problem: 'pageNotFound' },
  own_account: { status: 409, problem: 'conflict' },
  unknown_link: { status: 404, problem: 'pageNotFound' },
  link_over: { status: 410, problem: 'linkExpired' },
  session_over: { status: 401, problem: 'unauthorized' },
  project_differs: { status: 409, problem: 'conflict' },
};

const registryFaults: Readonly<Record<RegistryFault, Pick<Answer, 'status' | 'message'>>> = {
  unreachable: { status: 502, message: 'The transaction registry cannot be reached; try again later' },
  no_answer: { status: 502, message: 'The transaction registry gave no usable answer; try again later' },
  too_late: { status: 504, message: 'The transaction registry did not answer in time; try again later' },
};

const unavailable: Answer = {
  status: 503,
  problem: 'unavailable',
  message: 'The service is not available at the moment; try again in a few seconds',
};
const internal: Answer = { status: 500, problem: 'internal', message: 'Internal error' };
const notFound: Answer = { status: 404, problem: 'pageNotFound', message: 'Not found' };
const notAllowed: Answer = { status: 405, problem: 'pageNotFound', message: 'Method not allowed' };

const retryAfterSeconds = '5';

/** Koa middleware around everything that can fail. What is unexpected is logged; its answer gives nothing away. */
export function createErrorAnswers({
  baseUrl,
  log,
  showInConsole,
}: {
  baseUrl: string;
  log: Log;
  showInConsole: ShowPage;
}) {
  const answerWith = async (ctx: Context, answer: Answer) =>
    isConsolePath(ctx.path) ? giveToStaff(ctx, answer, showInConsole) : give(ctx, answer, baseUrl);
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
    } catch (error) {
      const answer = answerTo(error);
      if (answer.status >= 500) log.error({ err: error, requestId: ctx.state.requestId }, 'request failed');
      await answerWith(ctx, answer);
      return;
    }
    // The router answers these with a bare status.
    if (ctx.body != null || ctx.status < 400) return;
    await answerWith(ctx, ctx.status === 404 ? notFound : { ...notAllowed, status: ctx.status });
  };
}

/** What koa-body's parsers throw: their own messages quote the body, so none of them is passed on. */
export function bodyProblem(error: Error): HttpProblem {
  const status: unknown = Reflect.get(error, 'status') ?? Reflect.get(error, 'httpCode');
  if (status === 413) return new HttpProblem(413, 'tooLarge', 'The request body is too large');
  if (status === 415) return new HttpProblem(415, 'badRequest', 'This encoding of the body is not supported');
  return new HttpProblem(400, 'badRequest', 'The request body is malformed');
}

function answerTo(error: unknown): Answer {
  if (error instanceof HttpProblem) return error;
  if (error instanceof ConsoleProblem)
    return { status: error.status, problem: 'badRequest', message: error.message };
  if (error instanceof Refused) return { ...refusals[error.code], message: error.message };
  if (error instanceof ApiProblem) {
    const { status, code, message } = error;
    return { status, code, message, problem: 'badRequest' };
  }
  if (error instanceof InvalidFields)
    return { status: 400, code: 'validation_failed', message: error.message, problem: 'badRequest' };
  if (error instanceof RegistryUnavailable) return { ...registryFaults[error.fault], problem: 'unavailable' };
  return error instanceof EventStoreUnavailable ? unavailable : internal;
}

async function give(ctx: Context, answer: Answer, baseUrl: string): Promise<void> {
  const { status, message } = answer;
  ctx.status = status;
  if (status === 401) ctx.set('WWW-Authenticate', 'Bearer');
  if (status === 503) ctx.set('Retry-After', retryAfterSeconds);
  if (isApiPath(ctx.path)) {
    ctx.body = { code: answer.code ?? codeOfStatus(status), message };
    return;
  }
  if (!wantsPage(ctx)) {
    ctx.body = { [flagOf(ctx)]: false, message };
    return;
  }
  const page: ErrorPage = {
    lang: languageOf(ctx),
    httpStatus: status,
    problem: answer.problem,
    detail: status === 400 ? message : undefined,
    requestId: ctx.state.requestId,
    actionUrl: answer.actionUrl ?? (answer.problem === 'pageNotFound' ? `${baseUrl}/` : undefined),
  };
  await ctx.render('error.njk', page);
}

const staffTitles: Readonly<Record<number, string>> = {
  400: 'This cannot be read',
  403: 'You may not do this',
  404: 'Not found',
  405: 'There is no such action',
  409: 'This cannot be done',
  410: 'This link is over',
  413: 'This is too large',
  502: 'The transaction registry cannot be reached',
  503: 'This is not available at the moment',
  504: 'The transaction registry did not answer in time',
};

/** For staff the message says what is wrong; whose session is over is shown where to sign in. */
async function giveToStaff(
  ctx: Context,
  { message, status }: Answer,
  showInConsole: ShowPage,
): Promise<void> {
  if (status === 401) return seeOther(ctx, signInPath);
  ctx.status = status;
  if (status === 503) ctx.set('Retry-After', retryAfterSeconds);
  if (ctx.accepts(['html', 'json']) === 'json') {
    ctx.body = { status: false, message };
    return;
  }
  const title = staffTitles[status] ?? 'Something went wrong on our side';
  await showInConsole(ctx, 'error.njk', { title, status, message, requestId: ctx.state.requestId });
}

/** Requery says `success` where every other answer says `status`; credentials fail there as on check. */
function flagOf(ctx: Context): 'status' | 'success' {
  return /^\/(?:generic|landreg)\/requery\//.test(ctx.path) && ctx.status !== 401 ? 'success' : 'status';
}

/** Callers' endpoints always answer JSON, payers' pages only when JSON is asked for, the rest as it is asked. */
function wantsPage(ctx: Context): boolean {
  if (/^\/(?:generic|landreg)\/(?:check$|request$|requery\/)/.test(ctx.path)) return false;
  const isPayersPage = /^\/(?:$|verify\/|(?:generic|landreg)\/(?:pay|receipt|download)\/)/.test(ctx.path);
  return ctx.accepts(isPayersPage ? ['html', 'json'] : ['json', 'html']) === 'html';
}
