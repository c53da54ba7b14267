/** What this folder needs of a logger; pino's has it. */
export type Log = {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
};
