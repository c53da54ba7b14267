/** Reads variables one by one and gathers every fault, so that a boot names them all at once. */
import { ConfigError } from './config-error.ts';
import { type VariableName, variables } from './variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type EnvironmentReader = ReturnType<typeof readEnvironment>;

/**
 * `provided` holds what the embedded parts of `ledger serve` supply (store addresses, generated keys); a
 * variable that is set wins over it. An empty variable counts as not set.
 */
export function readEnvironment(environment: Environment, provided: Environment) {
  const faults: string[] = [];
  const given = (name: VariableName) => environment[name]?.trim() || undefined;
  const optional = (name: VariableName) => given(name) ?? provided[name];

  /** `fallback` where it depends on something; else the variable's own. */
  const text = (name: VariableName, fallback = variables[name].fallback) => optional(name) ?? fallback;

  const required = (name: VariableName, why: string): string => {
    const found = optional(name);
    if (found === undefined) faults.push(`${name} is not set: ${why}`);
    return found ?? '';
  };

  /** Checks that a URL is one and has one of the protocols; takes off a trailing slash. */
  const url = (name: VariableName, found: string, ...protocols: readonly string[]): string => {
    if (found !== '' && !protocols.includes(URL.parse(found)?.protocol ?? ''))
      faults.push(`${name} must be a URL that begins with ${protocols.map((it) => `${it}//`).join(' or ')}`);
    return found.replace(/\/$/, '');
  };

  const oneOf = <Choice extends string>(
    name: VariableName,
    choices: readonly [Choice, ...Choice[]],
    fallback?: Choice,
  ): Choice => {
    const found = choices.find((choice) => choice === text(name, fallback));
    if (found === undefined) faults.push(`${name} must be one of ${choices.join(', ')}`);
    return found ?? choices[0];
  };

  const port = (name: VariableName, fallback?: number): number => {
    const found = text(name, fallback?.toString());
    if (!/^\d{1,5}$/.test(found) || Number(found) > 65_535) faults.push(`${name} must be a port, 0 to 65535`);
    return Number(found);
  };

  const integer = (name: VariableName, least: number, most: number): number => {
    const found = text(name);
    const value = /^\d{1,9}$/.test(found) ? Number(found) : Number.NaN;
    if (!(value >= least && value <= most))
      faults.push(`${name} must be a whole number from ${least} to ${most}`);
    return value;
  };

  /** Runs a loader of a configuration file and takes its faults over. */
  const file = <Content>(load: () => Content, fallback: Content): Content => {
    try {
      return load();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
      return fallback;
    }
  };

  return { faults, given, text, required, url, oneOf, port, integer, file };
}
