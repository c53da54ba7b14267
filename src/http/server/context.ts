/** What every handler is given, what several of them do with it, and how each answers a problem. */
import type { DefaultContext, ParameterizedContext } from 'koa';
import type texts from '../../../content/texts/pay.en.json';
import { type Language, languages } from '../../common/languages.ts';
import type { Cause } from '../../events/envelope.ts';

/** What rate-limits.ts counts besides failures. */
export type RateLimit =
  | 'calls'
  | 'lists'
  | 'tests'
  | 'rotations'
  | 'pages'
  | 'attempts'
  | 'proofs'
  | 'signIns'
  | 'links';

export type RequestState = {
  /** In the answer's X-Request-Id, in every log line and in the events that this request causes. */
  requestId: string;
  address: string;
  /** Counts towards a limit on `name`. Rejects with HttpProblem 429 beyond it. */
  spend(limit: RateLimit, name: string): Promise<void>;
  /**
   * Looks whether what the caller presents for `what` is right: a falsy answer is a wrong guess. Rejects with HttpProblem 429
   * without looking while the address is paused for `what`, and with what `look` throws, which counts as nothing.
   */
  guess<Found>(what: string, look: () => Found | Promise<Found>): Promise<Found>;
  /** A new id for each command that this request gives. */
  newId(): string;
  /** What an interface adds to this request's line in the log, such as who the caller is. */
  logFields?: Readonly<Record<string, string>>;
  /** The language that staff chose for the console (console/frame/language.ts). */
  lang?: Language | undefined;
  /** The end of the signed link that opened this page; undefined if the page needs none. */
  linkEndsAtMs?: number;
};

/**
 * `State` is what earlier middlewares put into `ctx.state` for a handler. (Not @koa/router's RouterContext, which
 * includes the router: a handler would have to name the state of every other handler of its route.)
 */
export type Context<State = unknown> = ParameterizedContext<
  RequestState & State,
  DefaultContext & { params: Record<string, string>; _matchedRoute?: string | RegExp }
>;

/** What the events of a command given by this request name as their cause. */
export function causeOf(ctx: Context, actor: string): Cause {
  const { newId, requestId } = ctx.state;
  return { commandId: newId(), correlationId: requestId, causationId: requestId, actor };
}

/** A parameter of the query; `''` where it is missing or sent twice. */
export function queryText(ctx: Context, name: string): string {
  const value = ctx.query[name];
  return typeof value === 'string' ? value : '';
}

export function askedLanguage(ctx: Context): Language | undefined {
  return languages.find((each) => each === ctx.query.lang);
}

/** `?lang=`, else what the payer or the member of staff chose before, else Accept-Language, else English. */
export function languageOf(ctx: Context, chosen = ctx.state.lang): Language {
  const lang = askedLanguage(ctx) ?? chosen;
  if (lang) return lang;
  return ctx.acceptsLanguages('en', 'ms') === 'ms' ? 'ms' : 'en';
}

/** Answers with 303, so that a browser follows with GET whatever method it used. */
export function seeOther(ctx: Context, url: string): void {
  ctx.redirect(url);
  ctx.status = 303;
}

/** Which explanation people are shown; programs use the status. */
type ErrorKind = keyof typeof texts.problems;

export type ErrorAnswer = {
  status: number;
  /** For programs and staff; names fields and parameters, never values. */
  message: string;
  kind: ErrorKind;
  /** For /api/v1, where the status alone is not specific enough. */
  code?: string | undefined;
  /** For 429: in the answer's Retry-After. */
  retryAfterSeconds?: number | undefined;
  /** Where the button of the error page leads. */
  actionUrl?: string | undefined;
};

export type PresentError = (ctx: Context, answer: ErrorAnswer) => void | Promise<void>;

/** An answer other than success that a handler gives. */
export class HttpProblem extends Error {
  override name = 'HttpProblem';
  readonly answer: ErrorAnswer;
  constructor(status: number, message: string, more: Partial<Omit<ErrorAnswer, 'status' | 'message'>> = {}) {
    super(message);
    this.answer = { kind: kinds[status] ?? 'badRequest', ...more, status, message };
  }
}

const kinds: Readonly<Record<number, ErrorKind>> = {
  401: 'unauthorized',
  404: 'pageNotFound',
  405: 'wrongMethod',
  409: 'conflict',
  410: 'linkExpired',
  413: 'tooLarge',
  429: 'tooManyRequests',
  500: 'internal',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};
