/**
 * Every variable the program reads, with its default and its meaning, in the order of the reference page: the file
 * content/variables.json. Reading any other is a type error, so the page that `ledger configuration` prints is complete.
 */
import groups from '../../content/variables.json' with { type: 'json' };

type Variable = {
  /** The value when the variable is not set; `''` by default. */
  fallback?: string;
  /** The default on the reference page, where it depends on something. */
  otherwise?: string;
  /** What it means, in one line of markdown: on the reference page, and where it is needed and not set. */
  meaning: string;
  /** Its value may also be in a file that the variable with `_FILE` at the end of its name names. */
  isSecret?: boolean;
};

type Groups = typeof groups;
export type VariableName = { [Title in keyof Groups]: keyof Groups[Title] }[keyof Groups];

export const variableGroups: Readonly<Record<string, Readonly<Record<string, Variable>>>> = groups;
export const variables: Readonly<Record<VariableName, Variable>> = Object.assign(
  {},
  ...Object.values(groups),
);
