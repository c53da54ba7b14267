/** The names of tables, columns and schemas in the text of a query. */

/** Quotes a name for a raw query of Knex, whose own `??` would split it at a dot. */
export function quoteIdentifier(identifier: string): string {
  return `"${identifier.replaceAll('"', '""').replaceAll('?', '\\?')}"`;
}
