/** How the land registry is told of payments: where, as whom, and how patiently. */
import type { CallbackConfig } from './callbacks.ts';
import type { EnvironmentReader } from './environment.ts';

export type LandRegistryConfig = {
  callbackUrl: string;
  /** The header Access-Token, by which the land registry knows us. */
  accessToken: string;
  /** The label of this service in the land registry's books. */
  dimasuk: string;
  connectTimeoutMs: number;
  /** Of one try, all its attempts to connect and their pauses included. */
  timeoutMs: number;
  /** To connect, in one try. */
  attempts: number;
  /** Between two of them. */
  pauseMs: number;
};

/** Null where LANDREG_BASE_URL is not set, which production refuses where there are agencies of the land registry. */
export function readLandRegistry(
  env: EnvironmentReader,
  options: { production: boolean; hasAgencies: boolean } & Pick<CallbackConfig, 'allowHosts'>,
): LandRegistryConfig | null {
  const { production, hasAgencies, allowHosts } = options;
  const baseUrl =
    production && hasAgencies
      ? env.required('LANDREG_BASE_URL', 'merchants with a branch_code report payments to the land registry')
      : env.text('LANDREG_BASE_URL');
  if (baseUrl === '') return null;
  const callbackPath = env.required('LANDREG_CALLBACK_PATH', 'where the land registry takes callbacks');
  if (callbackPath !== '' && !/^\/[\x21-\x7e]*$/.test(callbackPath))
    env.faults.push('LANDREG_CALLBACK_PATH must begin with /');
  const accessToken = env.required('LANDREG_ACCESS_TOKEN', 'the land registry knows us by it');
  if (!/^[\x21-\x7e]*$/.test(accessToken))
    env.faults.push('LANDREG_ACCESS_TOKEN must be of ASCII characters, without blanks');
  const { protocol, hostname } = URL.parse(baseUrl) ?? { protocol: '', hostname: '' };
  if (production && protocol === 'http:' && !allowHosts.includes(hostname))
    env.faults.push(
      'LANDREG_BASE_URL must begin with https:// in production, unless CALLBACK_ALLOW_HOSTS names its host',
    );
  return {
    callbackUrl: env.url('LANDREG_BASE_URL', baseUrl, 'http:', 'https:') + callbackPath,
    accessToken,
    dimasuk: env.text('LANDREG_DIMASUK'),
    connectTimeoutMs: env.integer('LANDREG_CONNECT_TIMEOUT_MS', 1, 30_000),
    timeoutMs: env.integer('LANDREG_TIMEOUT_MS', 1, 35_000),
    attempts: env.integer('LANDREG_ATTEMPTS', 1, 10),
    pauseMs: env.integer('LANDREG_PAUSE_MS', 0, 5_000),
  };
}
