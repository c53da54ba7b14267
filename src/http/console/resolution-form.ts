/** The form in which staff say what became of an exception. */
import { validate } from 'superstruct';
import { note as noteField, oneOf } from '../../commands/fields.ts';
import { maskable } from '../../events/structs.ts';
import type { Context } from '../context.ts';
import { readForm } from './form.ts';

export type TypedResolution = { resolution: string; note: string };

/** As it was typed, for the form to be shown again, and as it is when nothing is wrong with it. */
export function readResolution<Choice extends string>(
  ctx: Context,
  choices: readonly Choice[],
): { typed: TypedResolution; said: { resolution: Choice; note: string } | null; fault: string | null } {
  const { resolution = '', note = '' } = readForm(ctx);
  // Browsers send lines as they are sent in emails.
  const typed = { resolution, note: note.replaceAll('\r\n', '\n').trim() };
  const [failure, said] = validate(typed, maskable({ resolution: oneOf(choices), note: noteField }));
  if (!failure) return { typed, said, fault: null };
  const isChoice = failure.path[0] === 'resolution';
  return { typed, said: null, fault: isChoice ? 'Choose what was done' : `The note ${failure.message}` };
}
