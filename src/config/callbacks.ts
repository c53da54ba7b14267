/** When callbacks and emails are tried again, and which hosts of our own network callbacks may reach. */
import type { EnvironmentReader } from './environment.ts';

export type CallbackConfig = {
  /** The pause before each try; the first is made at once. */
  scheduleMs: readonly number[];
  /** In production also the only ones that need no https. */
  allowHosts: readonly string[];
};

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const longestMs = 7 * 24 * 3_600_000;

export function readCallbacks(env: EnvironmentReader, production: boolean): CallbackConfig {
  const scheduleMs = env
    .text('CALLBACK_RETRY_SCHEDULE')
    .split(',')
    .map((pause) => {
      const [, digits, unit = ''] = /^\s*(\d{1,6})([smh])\s*$/.exec(pause) ?? [];
      return Number(digits) * (unitMs[unit] ?? Number.NaN);
    });
  if (!scheduleMs.every((ms) => ms <= longestMs) || scheduleMs[0] !== 0 || scheduleMs.length > 100)
    env.faults.push('CALLBACK_RETRY_SCHEDULE must be a list such as 0s,5s,5m,2h that begins with 0s');
  const allowHosts = env
    .text('CALLBACK_ALLOW_HOSTS', production ? '' : 'localhost,127.0.0.1,::1')
    .split(',')
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== '');
  if (!allowHosts.every((host) => /^[a-z0-9.-]+$|^[0-9a-f:]+$/.test(host)))
    env.faults.push('CALLBACK_ALLOW_HOSTS must be a list of host names or IP addresses, without ports');
  return { scheduleMs, allowHosts };
}
