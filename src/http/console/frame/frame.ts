/** What surrounds every page of the console, for staff and for those who have yet to sign in. */
import { type Context, seeOther } from '../../server/context.ts';
import type { ConsoleAssets } from './assets.ts';
import type { SessionCookies } from './cookie.ts';
import { readQuery } from './form.ts';
import { navigationFor } from './navigation.ts';
import { type NoticeCode, noticeOf, withNotice } from './notices.ts';
import { permissionsOf } from './permissions.ts';
import { staffOf } from './staff.ts';

export type Frame = ReturnType<typeof createFrame>;

export function createFrame({ assets, cookies }: { assets: ConsoleAssets; cookies: SessionCookies }) {
  return {
    /**
     * Draws views/console/<template> with the model and what layout.njk needs: `title` is the heading. A template that
     * refers to what its model lacks throws.
     */
    async show(ctx: Context, template: string, model: { title: string } & Record<string, unknown>) {
      const staff = staffOf(ctx);
      await ctx.render(`console/${template}`, {
        lang: 'en',
        assets: assets.urls,
        path: ctx.path,
        notice: noticeOf(readQuery(ctx).notice),
        staff: staff ? { id: staff.id, name: staff.name, role: staff.role } : null,
        may: staff ? permissionsOf(staff.role) : null,
        navigation: staff ? navigationFor(staff.role, ctx.path) : [],
        token: staff ? cookies.formToken(staff.ticket, staff.session.endsAt) : '',
        ...model,
      });
    },

    /** After an action: back to a page, which says what was done. */
    done(ctx: Context, path: string, notice: NoticeCode): void {
      seeOther(ctx, withNotice(path, notice));
    },
  };
}
