// Configurations without a fault, for tests that add one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import type { ExecutionContext } from 'ava';
import { loadConfig } from '../../src/config/config.ts';

export const secret = '0123456789abcdef0123456789abcdef';

export const complete = {
  ESDB_URL: 'esdb://node1:2113,node2:2113,node3:2113?tls=true',
  DATABASE_URL: 'postgres://ledger@db.example/ledger?sslmode=verify-full',
  TRANSACTION_ID_KEY: 'a secret that only transaction ids are made with',
  LINK_KEY: 'a-secret-that-only-links-are-signed-with',
  DATA_KEY: Buffer.alloc(32, 'a').toString('base64'),
  GATEWAY_SECRET: secret,
  GATEWAY_URL: 'https://gateway.example/pay',
  REGISTRY_URL: 'https://registry.example',
  REGISTRY_TOKEN: 'a token of the registry with 32 characters',
};

export function faultsOf(t: ExecutionContext, environment: Record<string, string>): readonly string[] {
  return t.throws(() => loadConfig(environment), { instanceOf: ConfigError })?.faults ?? [];
}

export function file(t: ExecutionContext, content: string | Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-config-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'file.yaml'), content);
  return join(folder, 'file.yaml');
}

/** A whole configuration of production that has no fault. */
export function production(t: ExecutionContext, merchant = `api_keys: ["sha256:${'a'.repeat(64)}"]`) {
  return {
    ...complete,
    NODE_ENV: 'production',
    BASE_URL: 'https://pay.example/',
    MERCHANTS_FILE: file(t, `merchants: { council: { name: Council, id: 7, ${merchant} } }`),
    SMTP_URL: 'smtps://ledger:password@mail.example',
    MAIL_FROM: 'Payments <no-reply@agency.example>',
    API_KEYS: `a-key-that-is-of-the-interface-alone, sha256:${'b'.repeat(64)}`,
  };
}

export const spaceless = complete.TRANSACTION_ID_KEY.replaceAll(' ', '-');

export const landRegistry = {
  LANDREG_BASE_URL: 'https://tanah.example/api/',
  LANDREG_CALLBACK_PATH: '/bayaran',
  LANDREG_ACCESS_TOKEN: 'a-token-of-theirs',
};
