/** Reads a YAML configuration file and checks it against a struct; a fault names the file and every invalid key. */
import { create, type Failure, type Struct, StructError } from 'superstruct';
import { parseDocument } from 'yaml';
import { readText } from './readable-file.ts';
import { reasonOf } from './reason-of.ts';

/** Everything that is wrong with the configuration, one line each; names, never values. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly faults: readonly string[];
  /** The files that were read: a change of one may correct it. */
  readonly files: readonly string[];
  constructor(faults: readonly string[], files: readonly string[] = []) {
    super(['The configuration is invalid:', ...faults.map((fault) => `  - ${fault}`)].join('\n'));
    this.faults = faults;
    this.files = files;
  }
}

/** Throws ConfigError with a line for every fault; values are never quoted, since a file may hold keys. */
export function readYamlFile<T>(path: string, struct: Struct<T, unknown>): T {
  return checkYaml(path, () => readText(path), struct);
}

/** Like readYamlFile, for the text that `read` returns; faults name `path`. */
export function checkYaml<T>(path: string, read: () => string, struct: Struct<T, unknown>): T {
  let content: unknown;
  try {
    // Otherwise a merchant 007 would be read as 7.
    const document = parseDocument(read(), { stringKeys: true });
    const [fault] = [...document.errors, ...document.warnings];
    // Its message is left out: it may quote what was read.
    if (fault)
      throw new ConfigError([`${path} cannot be read: ${fault.code} in line ${fault.linePos?.[0].line}`]);
    content = document.toJS({ maxAliasCount: 10 });
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    // Thrown by `toJS`, with the name of the alias.
    const reason = error instanceof ReferenceError ? 'an alias that is not known' : reasonOf(error);
    throw new ConfigError([`${path} cannot be read: ${reason}`]);
  }
  try {
    return create(content, struct);
  } catch (error) {
    if (!(error instanceof StructError)) throw error;
    throw new ConfigError([...new Set(error.failures().map((failure) => `${path}: ${wordsFor(failure)}`))]);
  }
}

function wordsFor({ path, type, refinement, value }: Failure): string {
  const key = path.join('.') || 'the file';
  if (type === 'never') return `${key} is not a known key`;
  if (value === undefined) return `${key} is missing`;
  if (value === null) return `${key} is empty`;
  if (type === 'object' || type === 'record') return `${key} must hold keys with values`;
  return `${key} is not valid (${refinement ?? type})`;
}
