/**
 * A land-registry system for trying things out: takes callbacks as strictly as the real one, and fails as that may. It
 * knows the service only by its wire.
 */
import type Router from '@koa/router';
import type { Context } from 'koa';
import koaBody from 'koa-body';
import { enums, object, pattern, size, string, trimmed, type, validate } from 'superstruct';
import { page } from './pages.ts';
import { modes, type Registration, type Registrations, type Verdict } from './registrations.ts';

const listed = 100;

const text = size(string(), 0, 200);
const nonempty = size(string(), 1, 200);

/** Every field of the documented payload, and its form. */
const Callback = type({
  accountNo: text,
  idHakmilik: text,
  kodCaw: pattern(string(), /^\d{2,4}$/),
  resitNo: nonempty,
  amaun: pattern(string(), /^\d{1,9}\.\d{2}$/),
  paymentDateTime: pattern(
    string(),
    /^20\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])([0-5]\d){2}$/,
  ),
  paymentType: enums(['CABAMPAY', 'CABAMCC', 'CABAMQR', 'CABAMDC']),
  fpxNo: text,
  transId: nonempty,
  dimasuk: nonempty,
});

const Settings = object({ mode: enums(modes), failingTitleId: trimmed(text) });

// A body that cannot be read is none: the land registry answers that in its own words.
const json = koaBody({
  multipart: false,
  urlencoded: false,
  text: false,
  jsonLimit: '64kb',
  onError: () => {},
});
const form = koaBody({ multipart: false, json: false, text: false, formLimit: '4kb' });

/** Adds `/land-registry` for people, and `/land-registry/callback` for callers with `token` as Access-Token. */
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
  router.post('/land-registry', form, (ctx) => {
    const [fault, settings] = validate(ctx.request.body, Settings, { coerce: true });
    if (fault) return ctx.throw(400, 'There is no such behaviour');
    registrations.behave(settings);
    ctx.redirect('/land-registry');
    ctx.status = 303;
  });
  router.post('/land-registry/callback', json, (ctx) => {
    if (ctx.get('Access-Token') !== token) return refuse(ctx, 401, 'Access-Token is missing or wrong');
    const [fault, callback] = validate(ctx.request.body, Callback);
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

/** A refusal is HTTP 200 all the same, as the real system has it: only the body tells. */
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
      // Until the caller has enough of it.
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
