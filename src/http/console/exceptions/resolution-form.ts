/** The form in which staff say what became of an exception. */
import { validate } from 'superstruct';
import { note as noteField } from '../../../commands/fields.ts';
import type { Context } from '../../server/context.ts';
import { readForm } from '../frame/form.ts';

export type TypedResolution = { resolution: string; note: string };

/** What was typed, for the form to be shown again; and what it says, or else what is wrong with it. */
export function readResolution<Choice extends string>(
  ctx: Context,
  choices: readonly Choice[],
): { typed: TypedResolution } & ({ said: { resolution: Choice; note: string } } | { fault: string }) {
  const { resolution: chosen = '', note: text = '' } = readForm(ctx);
  // Browsers send lines as they are sent in emails.
  const typed = { resolution: chosen, note: text.replaceAll('\r\n', '\n').trim() };
  const resolution = choices.find((choice) => choice === chosen);
  if (resolution === undefined) return { typed, fault: 'Choose what was done' };
  const [failure, note] = validate(typed.note, noteField);
  return failure ? { typed, fault: `The note ${failure.message}` } : { typed, said: { resolution, note } };
}
