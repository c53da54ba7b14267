/** What every handler is given, and what several of them do with it. */
import { randomUUID } from 'node:crypto';
import type { RouterContext } from '@koa/router';
import type { Cause } from '../../events/envelope.ts';
import type { Staff } from '../console/frame/staff.ts';
import { type Language, pickLanguage } from './language.ts';

export type RequestState = {
  /** In the answer's X-Request-Id, in every log line and in the events that this request causes. */
  requestId: string;
  /** Set once a merchant has proved who it is. */
  merchantCode?: string;
  /** Set once a caller of /api/v1 has shown one of API_KEYS. */
  apiCaller?: string;
  /** Set once somebody is signed in to the console. */
  staff?: Staff;
  /** Set on the one form that takes a file. */
  upload?: Blob;
};

export type Context = RouterContext<RequestState>;

/** What the events of a command given by this request name as their cause. */
export function causeOf(ctx: Context, actor: string): Cause {
  const { requestId } = ctx.state;
  return { commandId: randomUUID(), correlationId: requestId, causationId: requestId, actor };
}

/** `?lang=`, else Accept-Language, else English. */
export function languageOf(ctx: Context): Language {
  return pickLanguage(ctx.query.lang, ctx.get('Accept-Language'));
}

/** Answers with 303, so that a browser follows with GET whatever it sent. */
export function seeOther(ctx: Context, url: string): void {
  ctx.redirect(url);
  ctx.status = 303;
}
