// The program as its users run it: roles as processes of their own, on stores that may be killed, and a merchant and a
// gateway that speak to it over HTTP.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { freePort } from '../../packages/embedded/free-port.ts';
import { startPostgres } from '../../packages/embedded/postgres.ts';
import { checksumOf } from '../../packages/sandbox/checksum.ts';
import { isAlive, patienceMs, postgresPids, until } from '../embedded/helpers.ts';
import { settingsFor, spawnLedger } from '../support/ledger.ts';
import { folderWithCluster } from '../support/postgres.ts';
import type { Owner } from '../support/whole-file.ts';

export const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
export const gatewaySecret = 'a gateway secret of this test only';

/** A `ledger` command that is started again, on demand, with the same arguments. */
export type Role = {
  /** kill -9, then start again and wait until it is ready. */
  crash(): Promise<void>;
  /** kill -9, for good. */
  kill(): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>;
  /** All it has printed. */
  output(): string;
};

/** Starts `ledger <args>`, of another release if `program` is its folder, and waits until `ready` says so. It is stopped when the test ends. */
export async function startRole(
  t: Owner,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  ready: (output: string) => boolean | Promise<boolean>,
  program?: string,
): Promise<Role> {
  let child: ChildProcess;
  let printed = '';
  const launch = async () => {
    // The channel tells it to end when this test process is killed.
    const started = spawnLedger(args, environment, { channel: true, ...(program && { program }) });
    child = started;
    for (const stream of [started.stdout, started.stderr]) {
      stream.on('data', (chunk) => {
        printed += chunk;
        if (process.env.TEST_LOG_LEVEL) process.stderr.write(chunk);
      });
    }
    await until(async () => {
      if (started.exitCode !== null) throw new Error(`ledger ${args[0]} ended:\n${printed}`);
      return ready(printed);
    });
  };
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exited = once(child, 'exit');
    child.kill(signal);
    const [code] = await exited;
    return code;
  };
  await launch();
  t.teardown(() => end('SIGTERM'));
  return {
    async crash() {
      await end('SIGKILL');
      printed = '';
      await launch();
    },
    async kill() {
      await end('SIGKILL');
    },
    signal: (name) => void child.kill(name),
    stop: () => end('SIGTERM'),
    output: () => printed,
  };
}

export type Deployment = {
  baseUrl: string;
  esdbUrl: string;
  databaseUrl: string;
  http: Role;
  projections: Role;
  reactors: Role;
  eventStore: Role;
  postgres: { crash(): Promise<void> };
};

/** Every role in a process of its own, as in production, on a folder of the test's own. */
export async function startDeployment(
  t: Owner,
  changes: Readonly<Record<string, string>> = {},
): Promise<Deployment> {
  const dataDir = await folderWithCluster(t);
  const [eventStorePort, httpPort] = [await freePort(), await freePort()];
  const postgres = await startPostgres({ dataDir, log });
  t.teardown(() => postgres.stop());
  const eventStore = await startRole(
    t,
    ['eventstore', '--port', String(eventStorePort), '--data', join(dataDir, 'eventstore.db')],
    {},
    (output) => output.includes('listening'),
  );
  const baseUrl = `http://127.0.0.1:${httpPort}`;
  const esdbUrl = `esdb://127.0.0.1:${eventStorePort}?tls=false`;
  const environment = {
    ...settingsFor({ esdbUrl, databaseUrl: postgres.url }),
    PORT: String(httpPort),
    BASE_URL: baseUrl,
    DATA_DIR: dataDir,
    GATEWAY_SECRET: gatewaySecret,
    CALLBACK_RETRY_SCHEDULE: `0s${',1s'.repeat(60)}`,
    SEAL_KEY: '5ea1'.repeat(16),
    LOG_LEVEL: 'info',
    RATE_LIMIT_PAGES: '1000000',
    ...changes,
  };
  const projections = await startRole(t, ['projections'], environment, (output) =>
    output.includes('started'),
  );
  const reactors = await startRole(t, ['reactors'], environment, (output) => output.includes('started'));
  const http = await startRole(t, ['http'], environment, (output) => output.includes('http listening'));
  return {
    baseUrl,
    esdbUrl,
    databaseUrl: postgres.url,
    http,
    projections,
    reactors,
    eventStore,
    postgres: {
      async crash() {
        // After an earlier crash its file may still name a process that has ended.
        const { postmaster } = await until(() => postgresPids(dataDir).catch(() => undefined));
        process.kill(postmaster, 'SIGKILL');
        await until(() => !isAlive(postmaster));
        await until(async () => (await postgresPids(dataDir).catch(() => null))?.postmaster !== postmaster);
      },
    },
  };
}

export type PaymentRequestBody = Record<string, unknown>;

export function paymentRequest(reference: string, more: PaymentRequestBody = {}): PaymentRequestBody {
  return {
    merchant_code: 'demo-app',
    trans_id: reference,
    amount: '120.50',
    service: 'Licences',
    description: 'Business licence 2026',
    callback_url: 'http://127.0.0.1:9/callback',
    redirect_url: 'http://127.0.0.1:9/done',
    name: 'Nurul binti Abdullah',
    email: 'nurul@example.com',
    ...more,
  };
}

/** POST /generic/request as a merchant's server does. */
export function requestPayment(
  baseUrl: string,
  body: PaymentRequestBody,
  accept = 'application/json',
): Promise<Response> {
  return fetch(`${baseUrl}/generic/request`, {
    method: 'POST',
    headers: { authorization: 'Bearer demo-key', 'content-type': 'application/json', accept },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(patienceMs),
  });
}

/** A signed result, as the gateway would post it. */
export function gatewayResult(
  transactionId: string,
  more: Record<string, string> = {},
  secret = gatewaySecret,
): URLSearchParams {
  const fields = {
    STATUS: '1',
    PAYMENT_MODE: 'fpx',
    MERCHANT_CODE: 'demo-app',
    TRANS_ID: transactionId,
    RECEIPT_NO: '',
    PAYMENT_TRANS_ID: `FPX${transactionId}`,
    PAYMENT_DATETIME: '2026-11-20 09:30:00',
    AMOUNT: '120.50',
    BUYER_BANK: 'Bank Islam',
    BUYER_NAME: 'NURUL BINTI ABDULLAH',
    MERCHANT_ORDER_NO: `${transactionId}-1`,
    ...more,
  };
  return new URLSearchParams({ ...fields, CHECKSUM: checksumOf(fields, secret) });
}

export function postResult(
  baseUrl: string,
  body: URLSearchParams,
  channel: 'generic' | 'landreg' = 'generic',
): Promise<Response> {
  return fetch(`${baseUrl}/${channel}/response`, {
    method: 'POST',
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(patienceMs),
  });
}

/** Tries until it is acknowledged, as a merchant or a gateway would; an answer other than 5xx is an answer. */
export async function persistently(attempt: () => Promise<Response>): Promise<Response> {
  while (true) {
    try {
      const response = await attempt();
      if (response.status < 500) return response;
    } catch {
      // Refused or cut: the process is being killed just now.
    }
    await sleep(50);
  }
}
