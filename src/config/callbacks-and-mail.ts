/** How other systems and people are notified of payments: callbacks to merchants, the land registry, emails. */
import { deliverablePattern } from '@ledger/kernel/email-address.ts';
import type { EnvironmentReader } from './environment-reader.ts';

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const longestPauseMs = 7 * 24 * 3_600_000;

export function readCallbacks(env: EnvironmentReader) {
  const scheduleMs = env
    .text('CALLBACK_RETRY_SCHEDULE')
    .split(',')
    .map((pause) => {
      const [, digits, unit = ''] = /^\s*(\d{1,6})([smh])\s*$/.exec(pause) ?? [];
      return Number(digits) * (unitMs[unit] ?? Number.NaN);
    });
  env.must(
    'CALLBACK_RETRY_SCHEDULE',
    scheduleMs.every((ms) => ms <= longestPauseMs) && scheduleMs[0] === 0 && scheduleMs.length <= 100,
  );
  const fallback = env.production ? '' : 'localhost,127.0.0.1,::1';
  const allowHosts = env.list('CALLBACK_ALLOW_HOSTS', { fallback }).map((host) => host.toLowerCase());
  return {
    /** How many attempts at deliveries of one kind a process makes at a time. */
    concurrency: {
      total: env.integer('DELIVERY_ATTEMPTS'),
      perReceiver: env.integer('DELIVERY_ATTEMPTS_PER_RECEIVER'),
      perMerchant: env.integer('DELIVERY_ATTEMPTS_PER_MERCHANT'),
    },
    /** The pause before each attempt, of callbacks and emails; the first is made immediately. */
    scheduleMs: scheduleMs as readonly number[],
    /** Hosts in our own network that callbacks may reach; in production, also the only ones that do not need https. */
    allowHosts: allowHosts as readonly string[],
  };
}

export type LandRegistryConfig = NonNullable<ReturnType<typeof readLandRegistry>>;

/** Null where LANDREG_BASE_URL is not set, which production refuses where there are agencies of the land registry. */
export function readLandRegistry(
  env: EnvironmentReader,
  { hasAgencies, allowHosts }: { hasAgencies: boolean; allowHosts: readonly string[] },
) {
  const { production } = env;
  const baseUrl = env.text('LANDREG_BASE_URL', { required: production && hasAgencies });
  if (baseUrl === '') return null;
  const required = { required: true };
  const callbackPath = env.text('LANDREG_CALLBACK_PATH', required);
  const accessToken = env.text('LANDREG_ACCESS_TOKEN', required);
  const { protocol, hostname } = URL.parse(baseUrl) ?? { protocol: '', hostname: '' };
  env.must('LANDREG_BASE_URL', !production || protocol !== 'http:' || allowHosts.includes(hostname));
  return {
    callbackUrl: env.url('LANDREG_BASE_URL', ['http:', 'https:']) + callbackPath,
    /** The header Access-Token, by which the land registry knows us. */
    accessToken,
    /** The label of this service in the land registry's books. */
    dimasuk: env.text('LANDREG_DIMASUK'),
    connectTimeoutMs: env.integer('LANDREG_CONNECT_TIMEOUT_MS'),
    /** How long one delivery attempt may take, with all its attempts to connect and the pauses between them. */
    timeoutMs: env.integer('LANDREG_TIMEOUT_MS'),
    /** How many attempts to connect are made within one delivery attempt. */
    attempts: env.integer('LANDREG_ATTEMPTS'),
    /** The pause between two of them. */
    pauseMs: env.integer('LANDREG_PAUSE_MS'),
  };
}

/** In production it is a fault if emails only become files. */
export function readMail(env: EnvironmentReader) {
  const { production } = env;
  const smtpUrl = env.url('SMTP_URL', ['smtp:', 'smtps:'], { required: production });
  const sender = env.text('MAIL_FROM', { required: production });
  const from = readSender(sender);
  env.must('MAIL_FROM', sender === '' || from !== null);
  return {
    smtpUrl: smtpUrl || null,
    requireTls: production,
    from: from ?? { name: '', address: '' },
  };
}

function readSender(text: string): { name: string; address: string } | null {
  const [, name = '', inBrackets, alone] = /^(?:([^<>"@\p{Cc}]*)<([^<>]+)>|([^<>\s]+))$/u.exec(text) ?? [];
  const address = inBrackets ?? alone ?? '';
  return deliverablePattern.test(address) ? { name: name.trim(), address } : null;
}
