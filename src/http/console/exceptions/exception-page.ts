/** One exception: shows it with its resolution, or with the form in which staff record what they did about it. */
import { validate } from 'superstruct';
import { Refused } from '../../../commands/decider.ts';
import { note as noteField } from '../../../commands/fields.ts';
import type { Cause } from '../../../events/envelope.ts';
import type { Context } from '../../server/context.ts';
import type { ConsoleDependencies } from '../dependencies.ts';
import { staffCause } from '../frame/access-log.ts';
import { readForm } from '../frame/fields.ts';
import { leadTo } from '../frame/frame.ts';
import type { Page } from '../frame/page.ts';
import { resolutionNames } from './texts.ts';

type Resolved<Choice extends string> = { resolution: Choice; note: string; at: string };

/** One source of exceptions: how one is found, shown and resolved. */
export type ExceptionSource<Found, Choice extends string> = {
  /** In views/console/exceptions. */
  template: string;
  /** What each resolution means. */
  meanings: Readonly<Record<Choice, string>>;
  /** The exception that the path names. Throws ConsoleProblem 404. */
  find(ctx: Context, dependencies: ConsoleDependencies): Promise<Found>;
  /** What staff may choose. */
  choices(found: Found): readonly Choice[];
  resolved(found: Found): (Resolved<Choice> & { by: string }) | null;
  model(found: Found): { title: string; meaning: string; url: string } & Record<string, unknown>;
  /** Throws Refused where somebody else resolved it before. */
  resolve(
    found: Found,
    what: Resolved<Choice>,
    dependencies: ConsoleDependencies,
    cause: Cause,
  ): Promise<unknown>;
};

const emptyForm = { typed: { resolution: '', note: '' }, problem: null };

export function exceptionPage<Found, Choice extends string>(source: ExceptionSource<Found, Choice>) {
  const { choices, find, meanings, model, resolve, resolved, template } = source;
  const textOf = (value: Choice) => ({ name: resolutionNames[value], meaning: meanings[value] });

  async function show(
    ctx: Context,
    dependencies: ConsoleDependencies,
    found: Found,
    more: Record<string, unknown> = {},
  ): Promise<void> {
    const done = resolved(found);
    await dependencies.show(ctx, `exceptions/${template}`, {
      ...model(found),
      resolved: done && { ...done, ...textOf(done.resolution) },
      choices: choices(found).map((value) => ({ value, ...textOf(value) })),
      form: emptyForm,
      ...more,
    });
  }

  const showOne: Page = async (ctx, dependencies) => show(ctx, dependencies, await find(ctx, dependencies));

  const resolveOne: Page = async (ctx, dependencies) => {
    const found = await find(ctx, dependencies);
    const { typed, ...read } = readResolution(ctx, choices(found));
    const showAgain = async (status: number, problem: string) => {
      ctx.status = status;
      await show(ctx, dependencies, await find(ctx, dependencies), { form: { typed, problem } });
    };
    if ('fault' in read) return showAgain(400, read.fault);
    const at = dependencies.runtime.now().toISOString();
    try {
      await resolve(found, { at, ...read }, dependencies, staffCause(ctx));
    } catch (error) {
      if (error instanceof Refused) return showAgain(409, error.message);
      throw error;
    }
    leadTo(ctx, ctx.path, 'resolved');
  };

  return { show, showOne, resolveOne };
}

/** What was typed, to show the form again, and what it says or what is wrong with it. */
function readResolution<Choice extends string>(
  ctx: Context,
  choices: readonly Choice[],
): { typed: (typeof emptyForm)['typed'] } & ({ resolution: Choice; note: string } | { fault: string }) {
  const { resolution: chosen = '', note: text = '' } = readForm(ctx);
  // Browsers end lines with CRLF.
  const typed = { resolution: chosen, note: text.replaceAll('\r\n', '\n').trim() };
  const resolution = choices.find((choice) => choice === chosen);
  if (resolution === undefined) return { typed, fault: 'Choose what was done' };
  const [failure, note] = validate(typed.note, noteField);
  return failure ? { typed, fault: `The note ${failure.message}` } : { typed, resolution, note };
}
