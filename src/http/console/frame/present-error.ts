/** How errors look in the console. */
import { type PresentError, seeOther } from '../../server/context.ts';
import { textsOf } from '../texts.ts';
import { signInPath } from './addresses.ts';
import type { PageDependencies } from './page.ts';

/** Staff whose session has ended are sent to sign in; everybody else sees what is wrong. */
export function createPresentConsoleError({ show }: Pick<PageDependencies, 'show'>): PresentError {
  return (ctx, { actionUrl, status, message }) => {
    if (status === 401) return seeOther(ctx, signInPath);
    if (ctx.accepts(['html', 'json']) === 'json') {
      ctx.body = { status: false, message };
      return;
    }
    const titles: Readonly<Record<string, string>> = textsOf(ctx).errors;
    const title = titles[actionUrl ? 'personalData' : String(status)] ?? titles.others;
    return show(ctx, 'error.njk', {
      title,
      status,
      message,
      actionUrl,
      requestId: ctx.state.requestId,
    });
  };
}
