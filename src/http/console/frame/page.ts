/** What the pages and actions of the console have in common: what they are given, what surrounds them, who acts. */
import { codeOf } from '@ledger/kernel/reason-of.ts';
import { reasonWithoutValues } from '@ledger/postgres/error-codes.ts';
import type { ActionContext } from '../../../commands/refunds.ts';
import { createExecuteSession } from '../../../commands/session.ts';
import type { Language } from '../../../common/languages.ts';
import { type AccessKind, sessionStream } from '../../../events/session.ts';
import { type Context, causeOf, HttpProblem, languageOf, seeOther } from '../../server/context.ts';
import type { Dependencies } from '../../server/dependencies.ts';
import { createLookAtRebuilds } from '../projections/rebuilds.ts';
import { type ConsoleTexts, texts } from '../texts.ts';
import { createConsoleAssets } from './assets.ts';
import { noSuchPage, queryOf, readQuery } from './forms-and-lists.ts';
import { createPasskeys } from './passkeys.ts';
import { permissionsOf } from './permissions.ts';
import { createReturnTo } from './return-to.ts';
import { createSessions, type StaffContext, type VisitorContext } from './session.ts';

export type Page = (ctx: StaffContext, dependencies: PageDependencies) => Promise<void>;

/** Every page and action receives all of it and names the few things that it uses. */
export type PageDependencies = ReturnType<typeof createPageDependencies>;

export function createPageDependencies(dependencies: Dependencies) {
  const { config, eventStore, log, runtime } = dependencies;
  const assets = createConsoleAssets();
  const sessions = createSessions(dependencies);
  const lastList = createReturnTo(config.baseUrl, 'console-list');
  const executeSession = createExecuteSession(eventStore);
  return {
    ...dependencies,
    assets,
    sessions,
    passkeys: createPasskeys(dependencies),
    returnTo: createReturnTo(config.baseUrl, 'console-return'),
    lastList,
    executeSession,
    /** Renders views/console/<template> with the model and what layout.njk needs. */
    async show(ctx: VisitorContext, template: string, model: Record<string, unknown>): Promise<void> {
      const { staff } = ctx.state;
      const lang = languageOf(ctx);
      const query = readQuery(ctx);
      await ctx.render(`console/${template}`, {
        lang,
        // The answer to a form has no address of its own.
        languageUrl: (other: Language) =>
          ctx.method === 'GET' ? queryOf({ ...query, lang: other }) : `/console?lang=${other}`,
        assets: assets.urls,
        path: ctx.path,
        notice: noticeOf(query.notice, texts[lang]),
        staff: staff
          ? { id: staff.id, name: staff.name, role: staff.role, merchants: staff.merchants }
          : null,
        may: staff ? permissionsOf(staff) : null,
        listUrl: lastList.read(ctx),
        token: staff ? sessions.formToken(staff) : '',
        ...model,
      });
    },
    /** Await it before the data is shown; when it throws (EventStoreUnavailable, Refused), show nothing. */
    async recordAccess(ctx: StaffContext, access: Access): Promise<void> {
      const { head: from, ticket } = ctx.state.staff;
      const command = { type: 'ViewPersonalData' as const, at: runtime.now().toISOString(), ...access };
      await executeSession(sessionStream(ticket.sessionId), command, staffCause(ctx), { from });
    },
    /** The answers of the queries. Throws HttpProblem 503, without the cause, if one fails. */
    async askReadModels<Answers extends readonly unknown[]>(
      ctx: Context,
      queries: { [Index in keyof Answers]: Promise<Answers[Index]> },
      message = 'The read models do not answer; payments are still accepted',
    ): Promise<Answers> {
      try {
        return (await Promise.all(queries)) as unknown as Answers;
      } catch (error) {
        // A cursor that is in none of our links.
        if (codeOf(error).startsWith('22')) throw noSuchPage();
        const reason = reasonWithoutValues(error);
        log.warn({ reason, requestId: ctx.state.requestId }, 'the read models do not answer');
        throw new HttpProblem(503, message);
      }
    },
    lookAtRebuilds: createLookAtRebuilds(dependencies),
  };
}

type Access = { what: AccessKind; transactionId: string | null; detail: string };

/** The cause of the events of an action; its actor is `staff:<user id>`. */
export function staffCause(ctx: StaffContext) {
  return causeOf(ctx, `staff:${ctx.state.staff.id}`);
}

/** A merchant that is no longer configured gets no optional callbacks and accepts no partial payments. */
export function actingFor(
  ctx: StaffContext,
  { config, runtime }: Pick<PageDependencies, 'config' | 'runtime'>,
  { code }: { code: string },
): ActionContext {
  const merchant = config.merchants.get(code);
  return {
    at: runtime.now().toISOString(),
    by: `staff:${ctx.state.staff.id}`,
    terms: {
      toldOf: merchant?.toldOf ?? [],
      takesParts: merchant?.takesParts ?? false,
      approvalAboveSen: config.approvalAboveSen,
    },
  };
}

export type NoticeCode = keyof ConsoleTexts['notices'];

/** The notices that ask for something; the others say that it is done. */
const warnings: readonly string[] = ['requery-not-found', 'approval-requested', 'still-parked', 'expired'];

function noticeOf(code: string | undefined, { notices }: ConsoleTexts) {
  if (code === undefined || !Object.hasOwn(notices, code)) return null;
  return { kind: warnings.includes(code) ? 'warning' : 'success', text: notices[code as NoticeCode] };
}

/** After an action: redirects to a page with the notice. The URL holds only its code: no link can set the text. */
export function leadTo(ctx: Context, path: string, notice: NoticeCode): void {
  seeOther(ctx, `${path}${path.includes('?') ? '&' : '?'}notice=${notice}`);
}
