/** Reads variables one by one and collects every fault, so that a start names them all. */
import { readText } from './readable-file.ts';
import { reasonOf } from './reason-of.ts';
import { ConfigError } from './yaml-file.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Reading = {
  /** Overrides the variable's own default, if that depends on something. */
  fallback?: string;
  /** It is a fault if the variable is not set; then `''` is returned, and not the fallback. */
  required?: boolean;
  /** Instead of the form of the variable. */
  form?: RegExp;
};

export type Variable = {
  /** The value when the variable is not set; `''` by default. */
  fallback?: string;
  /** What it means, in one line: where it is needed and not set. */
  meaning: string;
  /** What its value, or each entry of a list, matches from end to end if it is not empty: a regular expression. */
  form?: string;
  /** The end of the sentence about an invalid value, after `must`. */
  must?: string;
  /** The limits of a number. */
  least?: number;
  most?: number;
  /** Its value may also be in a file that the variable with `_FILE` at the end of its name names. */
  isSecret?: boolean;
};

/** What a program reads, and what production refuses unless ALLOW_INSECURE names it. */
export type Variables<Name extends string, Insecurity extends string> = {
  variables: Readonly<Record<Name | OwnName, Variable>>;
  insecurities: readonly Insecurity[];
};
type OwnName = 'NODE_ENV' | 'ALLOW_INSECURE';

/**
 * `provided` holds what the embedded parts of `ledger serve` supply (store addresses, generated keys); a variable that
 * is set wins over it. An empty variable counts as not set. A secret may be in a file that `<name>_FILE` names. No
 * fault is reported of a variable that is not among `used`, since its value is not used; null stands for all. Over 70
 * lines: one function for each form of a value, and all collect their faults in one list.
 */
export function readVariables<Known extends string, Insecurity extends string>(
  { variables, insecurities }: Variables<Known, Insecurity>,
  environment: Environment,
  provided: Environment,
  used: ReadonlySet<string> | null = null,
) {
  type Name = Known | OwnName;
  const faults: string[] = [];
  /** The files that were read: secrets, and what the loaders of other files add. */
  const files: string[] = [];
  const values = new Map<Name, string | undefined>();
  const isUsed = (name: string) => used === null || used.has(name);

  const given = (name: Name): string | undefined => {
    if (!values.has(name)) values.set(name, read(name) || undefined);
    return values.get(name);
  };

  function read(name: Name): string | undefined {
    const value = environment[name]?.trim();
    const file = variables[name].isSecret && environment[`${name}_FILE`]?.trim();
    if (!file) return value;
    if (value && isUsed(name)) faults.push(`${name} and ${name}_FILE are both set`);
    files.push(file);
    try {
      const content = readText(file).trim();
      // It may be about to be written. Only the values before are removed by emptying their file.
      if (content === '' && isUsed(name) && !name.endsWith('_PREVIOUS'))
        faults.push(`${name}_FILE names an empty file`);
      return content;
    } catch (error) {
      if (isUsed(name)) faults.push(`${name}_FILE names a file that cannot be read: ${reasonOf(error)}`);
      return value;
    }
  }

  const must = (name: Name, isValid: boolean, what = variables[name].must): void => {
    const fault = `${name} must ${what}`;
    // A variable may be read twice.
    if (!isValid && isUsed(name) && !faults.includes(fault)) faults.push(fault);
  };

  const raw = (name: Name, { fallback, required = false }: Reading = {}): string => {
    const found = given(name) ?? provided[name];
    if (found === undefined && required && isUsed(name))
      faults.push(`${name} is not set. ${variables[name].meaning}`);
    return found ?? (required ? '' : (fallback ?? variables[name].fallback ?? ''));
  };

  const mustMatch = (name: Name, values: readonly string[], { form }: Reading = {}): boolean => {
    const known = form ?? new RegExp(`^(?:${variables[name].form ?? '.*'})$`, 's');
    const isValid = values.every((value) => value === '' || known.test(value));
    must(name, isValid);
    return isValid;
  };

  /** Returns the default in place of an invalid text, so that no fault is reported of what is made from it. */
  const text = (name: Name, reading?: Reading): string => {
    const found = raw(name, reading);
    const isValid = mustMatch(name, [found], reading);
    return isValid ? found : (reading?.fallback ?? variables[name].fallback ?? '');
  };

  /** Without a trailing slash. */
  const url = (name: Name, protocols: readonly string[], reading?: Reading): string => {
    const found = raw(name, reading);
    const isUrl = found === '' || protocols.includes(URL.parse(found)?.protocol ?? '');
    if (mustMatch(name, [found], reading))
      must(name, isUrl, `be a URL that begins with ${protocols.map((it) => `${it}//`).join(' or ')}`);
    return found.replace(/\/$/, '');
  };

  const oneOf = <Choice extends string>(
    name: Name,
    choices: readonly [Choice, ...Choice[]],
    fallback?: Choice,
  ): Choice => {
    const found = choices.find((choice) => choice === text(name, fallback && { fallback }));
    must(name, found !== undefined, `be one of ${choices.join(', ')}`);
    return found ?? choices[0];
  };

  const integer = (name: Name, reading?: Reading): number => {
    const { least = 0, most = 999_999_999 } = variables[name];
    const found = text(name, reading);
    const isValid = /^\d{1,9}$/.test(found) && Number(found) >= least && Number(found) <= most;
    must(name, isValid, `be a whole number from ${least} to ${most}`);
    return isValid ? Number(found) : least;
  };

  /** The entries of a comma-separated list that are not empty. */
  const list = (name: Name, reading?: Reading): readonly string[] => {
    const entries = raw(name, reading)
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
    mustMatch(name, entries, reading);
    return entries;
  };

  /** Runs the loader of the configuration file that a variable names, and adds its faults. */
  const file = <Content>(
    name: Name,
    load: (path: string) => Content,
    fallback: NoInfer<Content>,
  ): Content => {
    if (!isUsed(name)) return fallback;
    try {
      return load(text(name));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
      return fallback;
    }
  };

  const production = oneOf('NODE_ENV', ['development', 'production', 'test']) === 'production';
  const allowed = list('ALLOW_INSECURE');
  must(
    'ALLOW_INSECURE',
    allowed.every((name) => insecurities.some((insecurity) => insecurity === name)),
    `be a comma-separated list of ${insecurities.join(', ')}`,
  );
  const exceptions = new Map<Insecurity, string[]>();

  /** Whether production insists that a fault does not occur; where ALLOW_INSECURE names it, it is an exception. */
  const insistsOn = (insecurity: Insecurity, fault: string): boolean => {
    if (production && allowed.includes(insecurity))
      exceptions.set(insecurity, [...(exceptions.get(insecurity) ?? []), fault]);
    return production && !allowed.includes(insecurity);
  };

  const mustInProduction = (insecurity: Insecurity, name: string, isValid: boolean, what: string): void => {
    const fault = `${name} must ${what} in production`;
    if (!isValid && isUsed(name) && insistsOn(insecurity, fault))
      faults.push(`${fault}, unless ALLOW_INSECURE names ${insecurity}`);
  };

  return {
    production,
    faults,
    files,
    exceptions: exceptions as ReadonlyMap<Insecurity, readonly string[]>,
    given,
    must,
    insistsOn,
    mustInProduction,
    text,
    url,
    oneOf,
    integer,
    list,
    file,
  };
}
