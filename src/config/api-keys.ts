/** The keys of /api/v1. */
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
  const form = production
    ? /^(sha256:[0-9a-f]{64}|(?!sha256:)\S{32,200})$/
    : /^(sha256:[0-9a-f]{64}|(?!sha256:)\S{6,200})$/;
  if (!keys.every((key) => form.test(key)) || (list !== '' && keys.length === 0))
    env.faults.push(
      `API_KEYS must be a comma list of sha256:<64 hex digits> or keys of at least ${production ? 32 : 6} characters`,
    );
  return keys;
}
