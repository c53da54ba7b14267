/** The keys that callers show as Bearer: those of /api/v1, and the land registry's. */
import type { EnvironmentReader } from './environment.ts';

/** Each `sha256:<64 hex digits>` or plain; none leaves /api/v1 open, which production refuses. */
export function readApiKeys(env: EnvironmentReader, production: boolean): readonly string[] {
  const list = production
    ? env.required('API_KEYS', 'a comma list of the Bearer keys that /api/v1 takes')
    : env.text('API_KEYS');
  const keys = list
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '');
  if (!keys.every((key) => isKey(key, production)) || (list !== '' && keys.length === 0))
    env.faults.push(
      `API_KEYS must be a comma list of sha256:<64 hex digits> or keys of at least ${minKeyLength(production)} characters`,
    );
  return keys;
}

/** `sha256:<64 hex digits>` or plain; production needs one where it has agencies, and else `''` lets nobody in. */
export function readLandregAccessKey(
  env: EnvironmentReader,
  { production, hasAgencies }: { production: boolean; hasAgencies: boolean },
): string {
  const key =
    production && hasAgencies
      ? env.required('LANDREG_ACCESS_KEY', 'the land registry proves itself with it')
      : env.text('LANDREG_ACCESS_KEY', production ? '' : 'landreg-key');
  if (key !== '' && !isKey(key, production))
    env.faults.push(
      `LANDREG_ACCESS_KEY must be sha256:<64 hex digits> or a key of at least ${minKeyLength(production)} characters, without blanks`,
    );
  return key;
}

function isKey(key: string, production: boolean): boolean {
  const form = /^(sha256:[0-9a-f]{64}|(?!sha256:)\S{6,200})$/;
  return form.test(key) && key.length >= minKeyLength(production);
}

function minKeyLength(production: boolean): number {
  return production ? 32 : 6;
}
