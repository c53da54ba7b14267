/** How errors look in the console. */
import { seeOther } from '../../server/context.ts';
import type { PresentError } from '../../server/errors.ts';
import { signInPath } from './addresses.ts';
import type { ShowPage } from './frame.ts';

const titles: Readonly<Record<number, string>> = {
  400: 'Something in this request is wrong',
  403: 'You may not do this',
  404: 'Not found',
  405: 'There is no such action',
  409: 'This cannot be done',
  410: 'This link can no longer be used',
  413: 'This is too large',
  502: 'The transaction registry cannot be reached',
  503: 'This is not available at the moment',
  504: 'The transaction registry did not answer in time',
};

/** Staff whose session has ended are sent to sign in; everybody else sees what is wrong. */
export function createPresentConsoleError(show: ShowPage): PresentError {
  return (ctx, { status, message }) => {
    if (status === 401) return seeOther(ctx, signInPath);
    if (ctx.accepts(['html', 'json']) === 'json') {
      ctx.body = { status: false, message };
      return;
    }
    const title = titles[status] ?? 'Something went wrong on our side';
    return show(ctx, 'error.njk', { title, status, message, requestId: ctx.state.requestId });
  };
}
