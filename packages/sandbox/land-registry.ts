/**
 * A land-registry system for development: checks callbacks as strictly as the real one, and fails in the same ways on
 * demand.
 */
import type Router from '@koa/router';
import type { Context } from 'koa';
import koaBody from 'koa-body';
import { validate } from 'superstruct';
import { page, seeOther, smallForm } from './pages.ts';
import { Callback, type Registration, type Registrations, Settings, type Verdict } from './registrations.ts';

const listed = 100;

// An unreadable body counts as no body, which the land registry refuses in its own format.
const json = koaBody({
  multipart: false,
  urlencoded: false,
  text: false,
  jsonLimit: '64kb',
  onError: () => {},
});

/** Adds the page `/land-registry`, and `/land-registry/callback` for callers whose Access-Token is `token`. */
export function addLandRegistry(
  router: Router,
  { registrations, token }: { registrations: Registrations; token: string },
): void {
  router.get('/land-registry', (ctx) => {
    ctx.body = page('land-registry', {
      behaviour: registrations.behaviour(),
      counts: registrations.counts(),
      received: registrations.recent(listed),
    });
  });
  router.post('/land-registry', smallForm, (ctx) => {
    const [fault, settings] = validate(ctx.request.body, Settings, { coerce: true });
    if (fault) return ctx.throw(400, 'There is no such behaviour');
    registrations.behave(settings);
    seeOther(ctx, '/land-registry');
  });
  router.post('/land-registry/callback', json, (ctx) => {
    if (ctx.get('Access-Token') !== token) return refuse(ctx, 401, 'Access-Token is missing or wrong');
    const [fault, callback] = validate(ctx.request.body, Callback, { coerce: true, mask: true });
    if (fault) return refuse(ctx, 400, `${fault.path.join('.') || 'The body'} is missing or not valid`);
    const verdict = verdictOn(callback, registrations);
    registrations.add(callback, verdict);
    answer(ctx, callback, verdict);
  });
}

function verdictOn(callback: Registration, registrations: Registrations): Verdict {
  const { mode, failingTitleId } = registrations.behaviour();
  if (mode === 'hang') return 'hanging';
  if (mode === 'refuse' || (failingTitleId !== '' && callback.idHakmilik === failingTitleId))
    return 'refused';
  if (registrations.has(callback)) return 'duplicate';
  return mode === 'lose-answer' ? 'answer-lost' : 'accepted';
}

/** A refusal is HTTP 200, too, as in the real system: only the body tells. */
function answer(ctx: Context, { resitNo }: Registration, verdict: Verdict): void {
  switch (verdict) {
    case 'accepted':
      ctx.body = { statusCode: 'SUCCESS', noresit: resitNo, message: 'Accepted' };
      break;
    case 'refused':
      refuse(ctx, 200, 'Refused');
      break;
    case 'duplicate':
      refuse(ctx, 200, 'Duplicate resitNo and fpxNo');
      break;
    case 'answer-lost':
      ctx.respond = false;
      ctx.req.socket.destroy();
      break;
    case 'hanging':
      // Never answers; the caller has to give up.
      ctx.respond = false;
      break;
    default:
      verdict satisfies never;
  }
}

function refuse(ctx: Context, status: number, message: string): void {
  ctx.status = status;
  ctx.body = { statusCode: 'FAILED', noresit: '', message };
}
