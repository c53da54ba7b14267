/** What `ledger serve` says once everything runs: what was started, where, and what to try next. */
import type { Config } from '../config/config.ts';

/** Prints to a person at a terminal; a log collector gets the same facts as log lines from the parts themselves. */
export function welcome(options: {
  config: Config;
  port: number;
  gatewayUrl: string | null;
  embedded: { eventStore: boolean; postgres: boolean };
}): void {
  const { config, port, gatewayUrl, embedded } = options;
  const base = config.port === 0 ? `http://localhost:${port}` : config.baseUrl;
  const lines = [
    '',
    '  The payment ledger is running.',
    '',
    `    service       ${base}`,
    `    console       ${base}/console  (first: npx ledger users add --role admin --email <address>)`,
    ...(gatewayUrl ? [`    gateway       ${gatewayUrl}  (sandbox: no real money)`] : []),
    ...(gatewayUrl ? [`    merchant      ${gatewayUrl}/merchant  (shows the callbacks)`] : []),
    ...(gatewayUrl ? [`    land registry ${gatewayUrl}/land-registry`] : []),
    ...(gatewayUrl && !config.mail.smtpUrl ? [`    mailbox       ${gatewayUrl}/mailbox`] : []),
    `    event store   ${embedded.eventStore ? `embedded, ${config.dataDir}/eventstore.db` : 'at ESDB_URL'}`,
    `    PostgreSQL    ${embedded.postgres ? `embedded, ${config.dataDir}/postgres` : 'at DATABASE_URL'}`,
    '',
    ...(config.merchants.has('demo-app') && gatewayUrl ? firstPayment(base, gatewayUrl) : []),
    '  Stop with Ctrl-C. Nothing is lost: the next start goes on where this one ended.',
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function firstPayment(base: string, sandboxUrl: string): string[] {
  const body = {
    merchant_code: 'demo-app',
    trans_id: 'INV-001',
    amount: '120.50',
    service: 'Licences',
    description: 'Business licence 2026',
    email: 'payer@example.com',
    callback_url: `${sandboxUrl}/merchant/callback`,
    redirect_url: `${sandboxUrl}/merchant`,
  };
  return [
    '  Ask for a payment, then open the payment_url it answers in a browser:',
    '',
    `    curl -s ${base}/generic/request -H 'Authorization: Bearer demo-key' \\`,
    "      -H 'Content-Type: application/json' -H 'Accept: application/json' \\",
    `      -d '${JSON.stringify(body)}'`,
    '',
  ];
}
