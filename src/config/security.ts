/** What production refuses unless ALLOW_INSECURE names it: unencrypted stores and emails, weak secrets, the sandbox. */
import { digestOfConfigured } from '@ledger/kernel/key-digest.ts';
import { orElse } from '@ledger/kernel/or-else.ts';
import type { EnvironmentReader } from './environment-reader.ts';

const shortestSecret = 32;

/** Options of a connection string; the client reads their names in any case, and with - or _ in them. */
const knownOptions =
  /^(connectionname|defaultdeadline|discoveryinterval|dnsdiscover|gossiptimeout|keepaliveinterval|keepalivetimeout|maxdiscoverattempts|nodepreference|throwonappendfailure|tls|tlscafile|usercertfile|userkeyfile|tlsverifycert=true)(=|$)/;

/** The client prints a URL that it cannot read, or of which it ignores an option, with the password. */
function isConnectionString(url: string): boolean {
  const form = /^esdb(?:\+discover)?:\/\/(?:([^:/?@]+:[^:/?@]+)@)?[^$+!?*'();[\]{}|"%~#<>=&@]+(?:\?(.+))?$/;
  const [isOfForm, credentials = '', query] = form.exec(url) ?? [''];
  const isKnown = (option: string) =>
    /^[^=]+=[^=?]+$/.test(option) && knownOptions.test(option.replace(/[\s_-]/g, '').toLowerCase());
  return isOfForm !== '' && isDecodable(credentials) && (query?.split('&') ?? []).every(isKnown);
}

const isDecodable = (text: string) => orElse(() => decodeURIComponent(text), null) !== null;

/** Only TLS with a verified certificate counts, and a password of its own. On this machine, the password is enough. */
export function checkEventStore(env: EnvironmentReader, url: string): void {
  env.must('ESDB_URL', url === '' || isConnectionString(url));
  const isEncrypted = [...url.matchAll(/[?&]([^=&]+)=([^&?]*)/g)].every(
    // The client reads the names of options in any case, and with - or _ in them.
    ([, name = '', value]) => name.replace(/[\s_-]/g, '').toLowerCase() !== 'tls' || value === 'true',
  );
  const isLocalWithPassword = /^esdb:\/\/[^/?@,:]+:[^/?@,]+@(127\.0\.0\.1|localhost)(:\d+)?\/?\?/.test(url);
  env.mustInProduction(
    'eventstore',
    'ESDB_URL',
    url === '' || isEncrypted || isLocalWithPassword,
    'not say tls=false, except with user and password to an event store on this machine,',
  );
  env.mustInProduction(
    'eventstore',
    'ESDB_URL',
    !/:changeit@/.test(url),
    'not have the password with which every EventStoreDB begins',
  );
}

/** Options of a mail server's URL. Others would send elsewhere, or log every email. */
const mailOptions =
  /^(authMethod|family|ignoreTLS|localAddress|name|pool|requireTLS|tls\.rejectUnauthorized|tls\.servername)$/;

/** Emails go out over TLS with a verified certificate, unless the mail server is on this machine. */
export function checkMail(env: EnvironmentReader, smtpUrl: string): void {
  const url = URL.parse(smtpUrl);
  const options = [...(url?.searchParams ?? [])];
  env.must('SMTP_URL', url?.hostname !== '', 'name a mail server');
  env.must(
    'SMTP_URL',
    options.every(([name]) => mailOptions.test(name)),
    'have no options but those that content/docs/configuration.md lists',
  );
  const weakening = ['requireTLS', 'tls.rejectUnauthorized'];
  const isStrict = options.every(([name, value]) => !weakening.includes(name) || value === 'true');
  env.mustInProduction(
    'mail',
    'SMTP_URL',
    isStrict || isThisMachine(url?.hostname ?? ''),
    'not turn off TLS or its checks, except to a mail server on this machine,',
  );
}

const isThisMachine = (host: string) => ['127.0.0.1', 'localhost', '[::1]'].includes(host);

/** On this machine, which includes Unix sockets, PostgreSQL may do without TLS. */
export function checkPostgres(env: EnvironmentReader, databaseUrl: string): void {
  const url = URL.parse(databaseUrl);
  // The driver does the same: the last of a repeated parameter counts, and `host` takes precedence over the address.
  const last = (name: string) => url?.searchParams.getAll(name).at(-1);
  const host = last('host') || (url?.hostname ?? '').replace(/^%2f/i, '/');
  const [address = ''] = databaseUrl.split('?');
  env.must('DATABASE_URL', isDecodable(address), 'be percent-encoded as UTF-8');
  const isLocal = host.startsWith('/') || isThisMachine(host);
  env.mustInProduction(
    'postgres',
    'DATABASE_URL',
    url === null || isLocal || last('sslmode') === 'verify-full',
    'say sslmode=verify-full, except to a PostgreSQL on this machine,',
  );
}

/**
 * The values of a secret, plain or `sha256:<64 hex digits>`; the empty ones are not set. `previous` are those of the
 * variable with `_PREVIOUS` at the end of its name, if they may be the same.
 */
export type Secret = readonly [name: string, values: readonly string[], previous?: readonly string[]];

/** Every secret is long enough, and none has a value of another. */
export function checkSecrets(env: EnvironmentReader, secrets: readonly Secret[]): void {
  const namesByDigest = new Map<string, Set<string>>();
  const checkLength = (name: string, values: readonly string[]) =>
    env.mustInProduction(
      'short-secrets',
      name,
      values.every((value) => value === '' || value.length >= shortestSecret),
      `have at least ${shortestSecret} characters`,
    );
  for (const [name, values, previous = []] of secrets) {
    checkLength(name, values);
    checkLength(`${name}_PREVIOUS`, previous);
    for (const value of [...values, ...previous].filter((each) => each !== '')) {
      const digest = digestOfConfigured(value).toString('hex');
      namesByDigest.set(digest, (namesByDigest.get(digest) ?? new Set()).add(name));
    }
  }
  for (const names of namesByDigest.values())
    env.mustInProduction(
      'shared-secrets',
      [...names].join(' and '),
      names.size === 1,
      'have different values',
    );
}
