/** A page with a form: shows it, and does what the form asks, or shows it again as it was filled in, and says why not. */
import { Refused } from '../../../commands/decider.ts';
import { InvalidFields } from '../../../commands/fields.ts';
import { UnreadableExport } from '../../../reconciliation/export-format.ts';
import { ImportImpossible } from '../../../reconciliation/reconcile.ts';
import { refusals } from '../../server/errors.ts';
import { type Fields, readForm } from './forms-and-lists.ts';
import type { Page, PageDependencies } from './page.ts';
import type { StaffContext } from './session.ts';

export type FormPage = {
  /** In views/console. It sees its model; `problem`, why the form was not accepted, or null; and `faults`. */
  template: string;
  /** `typed` is the form that was not accepted; null when the page is opened. */
  model(ctx: StaffContext, dependencies: PageDependencies, typed: Fields | null): Promise<object>;
  /** Adds to `faults` what is wrong with the rows of a file. */
  submit(ctx: StaffContext, dependencies: PageDependencies, form: Fields, faults: string[]): Promise<void>;
};

export const openForm =
  ({ model, template }: FormPage): Page =>
  async (ctx, dependencies) =>
    dependencies.show(ctx, template, {
      problem: null,
      faults: [],
      ...(await model(ctx, dependencies, null)),
    });

export const submitForm =
  ({ model, submit, template }: FormPage): Page =>
  async (ctx, dependencies) => {
    const typed = readForm(ctx);
    const faults: string[] = [];
    let problem: string | null = null;
    try {
      // `no`: somebody who was asked to confirm wants to change what they typed.
      if (typed.confirmed !== 'no') return await submit(ctx, dependencies, typed, faults);
    } catch (error) {
      [ctx.status, problem] = problemOf(error);
    }
    await dependencies.show(ctx, template, { problem, faults, ...(await model(ctx, dependencies, typed)) });
  };

/** What staff can mend, or wait for. Throws every other error. */
function problemOf(error: unknown): [status: number, message: string] {
  if (error instanceof InvalidFields || error instanceof UnreadableExport) return [400, error.message];
  if (error instanceof Refused) return [refusals[error.code].status, error.message];
  if (error instanceof ImportImpossible) return [503, error.message];
  throw error;
}
