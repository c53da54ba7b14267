/** What `ledger serve` prints once everything runs: what was started, where, and what to try next. */
import { renderText } from '../common/templates.ts';
import type { Config } from '../config/config.ts';
import { firstRequest } from '../http/home.ts';
import type { Store } from './stores.ts';

/** For a person at a terminal; log collectors get the same facts from the log. */
export function welcome(running: {
  config: Config;
  port: number;
  adminPort: number;
  gatewayUrl: string | null;
  embedded: { eventStore: boolean; postgres: boolean };
  silent: readonly Store[];
}): void {
  const { config, port, gatewayUrl, silent } = running;
  const base = config.port === 0 ? `http://localhost:${port}` : config.baseUrl;
  const canTry = config.merchants.has('demo-app') && gatewayUrl !== null && silent.length === 0;
  const model = { ...running, base, firstRequest: canTry && firstRequest(base, gatewayUrl) };
  process.stdout.write(`${renderText('welcome.txt', model)}\n`);
}
