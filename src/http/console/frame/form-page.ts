/** A page with a form: shows it, and does what the form asks, or shows it again and says why not. */
import { Refused } from '../../../commands/decider.ts';
import { InvalidFields } from '../../../commands/fields.ts';
import { UnreadableExport } from '../../../reconciliation/export-format.ts';
import { ReadModelBehind } from '../../../reconciliation/reconcile.ts';
import { type Fields, readForm } from './forms-and-lists.ts';
import type { Page, PageDependencies } from './page.ts';
import type { StaffContext } from './session.ts';

export type FormPage = {
  /** In views/console. It sees its model, and `problem`: why the form was not accepted, or null. */
  template: string;
  /** `typed` is the form that was not accepted; null when the page is opened. */
  model(
    ctx: StaffContext,
    dependencies: PageDependencies,
    typed: Fields | null,
  ): Promise<Record<string, unknown>>;
  submit(ctx: StaffContext, dependencies: PageDependencies, form: Fields): Promise<void>;
};

export const openForm =
  ({ model, template }: FormPage): Page =>
  async (ctx, dependencies) =>
    dependencies.show(ctx, template, { problem: null, ...(await model(ctx, dependencies, null)) });

export const submitForm =
  ({ model, submit, template }: FormPage): Page =>
  async (ctx, dependencies) => {
    const typed = readForm(ctx);
    try {
      await submit(ctx, dependencies, typed);
    } catch (error) {
      const { status, message } = problemOf(error);
      ctx.status = status;
      await dependencies.show(ctx, template, {
        problem: message,
        ...(await model(ctx, dependencies, typed)),
      });
    }
  };

/** What staff can mend, or wait for. Throws every other error. */
export function problemOf(error: unknown): { status: number; message: string } {
  if (error instanceof InvalidFields || error instanceof UnreadableExport)
    return { status: 400, message: error.message };
  if (error instanceof Refused)
    return { status: error.code === 'invalid_settlement' ? 400 : 409, message: error.message };
  if (error instanceof ReadModelBehind) return { status: 503, message: error.message };
  throw error;
}
