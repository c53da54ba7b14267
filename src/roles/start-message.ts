/** What `ledger serve` prints once everything runs: what was started, where, and what to try next. */
import type { Config } from '../config/config.ts';
import { firstRequest } from '../http/home.ts';

/** For a person at a terminal; log collectors get the same facts from the log. */
export function welcome(options: {
  config: Config;
  port: number;
  adminPort: number;
  gatewayUrl: string | null;
  embedded: { eventStore: boolean; postgres: boolean };
}): void {
  const { config, port, adminPort, gatewayUrl, embedded } = options;
  const base = config.port === 0 ? `http://localhost:${port}` : config.baseUrl;
  const lines = [
    '',
    '  The payment ledger is running.',
    '',
    `    service       ${base}`,
    `    console       ${base}/console  (first: npx ledger users add --role admin --email <address>)`,
    `    metrics       http://${config.admin.host}:${adminPort}/metrics`,
    ...(gatewayUrl ? [`    gateway       ${gatewayUrl}  (sandbox: no real money)`] : []),
    ...(gatewayUrl ? [`    merchant      ${gatewayUrl}/merchant  (shows the callbacks)`] : []),
    ...(gatewayUrl ? [`    land registry ${gatewayUrl}/land-registry`] : []),
    ...(gatewayUrl && !config.mail.smtpUrl ? [`    mailbox       ${gatewayUrl}/mailbox`] : []),
    `    event store   ${embedded.eventStore ? `embedded, ${config.dataDir}/eventstore.db` : 'at ESDB_URL'}`,
    `    PostgreSQL    ${embedded.postgres ? `embedded, ${config.dataDir}/postgres` : 'at DATABASE_URL'}`,
    '',
    ...(config.merchants.has('demo-app') && gatewayUrl ? firstPayment(base, gatewayUrl) : []),
    '  Stop with Ctrl-C. The next start continues where this one ended.',
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function firstPayment(base: string, sandboxUrl: string): string[] {
  return [
    '  Request a payment, then open the payment_url of the answer in a browser:',
    '',
    ...firstRequest(base, sandboxUrl)
      .split('\n')
      .map((line) => `    ${line}`),
    '',
  ];
}
