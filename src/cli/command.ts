/** What a command of the `ledger` program is. */

export type Options = Readonly<Record<string, { type: 'string' } | { type: 'boolean' }>>;

/** Options with a value, and options without. */
export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;

/** The options that were given; a boolean is true or was not given. */
export type Values<Of extends Options> = {
  readonly [Name in keyof Of]?: { string: string; boolean: boolean }[Of[Name]['type']];
};

/**
 * A command whose options are all text is a plain `Command`. One that has booleans names the type of its options, so that
 * each value has its own type: `const options = { … } as const`, `Command<typeof options>`.
 */
export type Command<Of extends Options = Readonly<Record<string, { type: 'string' }>>> = {
  /** One line for `ledger help`. */
  summary: string;
  /** Its arguments, as `ledger help` shows them. */
  usage: string;
  options: Of;
  /** Whether it takes arguments besides its options. */
  takesArguments?: true;
  /** Resolves to the exit code. Throws UsageError when the arguments are wrong. */
  run(values: Values<Of>, args: readonly string[]): Promise<number>;
};

/** The arguments are wrong; the usage of the command is shown with the message. */
export class UsageError extends Error {
  override name = 'UsageError';
}
