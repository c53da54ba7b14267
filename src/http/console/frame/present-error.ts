/** How errors look in the console. */
import { seeOther } from '../../server/context.ts';
import type { PresentError } from '../../server/errors.ts';
import { signInPath } from './addresses.ts';
import type { Frame } from './frame.ts';

const titles: Readonly<Record<number, string>> = {
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

/** Staff whose session is over are sent to sign in; everybody else is told what is wrong. */
export function createPresentConsoleError({ show }: Pick<Frame, 'show'>): PresentError {
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
