/** What a command of the `ledger` program is. */

export type Options = Readonly<Record<string, { type: 'string' } | { type: 'boolean' }>>;

/** Options with a value, and options without. */
export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;

/** The values of the options that were given; a boolean is true or missing. */
export type Values<Of extends Options> = {
  readonly [Name in keyof Of]?: { string: string; boolean: boolean }[Of[Name]['type']];
};

/**
 * A command whose options are all text is a plain `Command`. One with boolean options names their type, so that each
 * value is typed: `const options = { … } as const`, `Command<typeof options>`.
 */
export type Command<Of extends Options = Readonly<Record<string, { type: 'string' }>>> = {
  /** One line for `ledger help`. */
  summary: string;
  /** Its arguments, as `ledger help` shows them. */
  usage: string;
  options: Of;
  takesArguments?: true;
  /** Resolves to the exit code. Throws UsageError when the arguments are wrong. */
  run(values: Values<Of>, args: readonly string[]): Promise<number>;
};

/** The arguments are wrong; the message is shown with the command's usage. */
export class UsageError extends Error {
  override name = 'UsageError';
}
