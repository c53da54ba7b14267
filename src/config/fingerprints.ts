/**
 * Fingerprints of what all processes of a role must be configured with alike, so that one that differs is found by its
 * metrics. They are keyed: without TRANSACTION_ID_KEY, which the log compares, nobody can try values against one.
 */
import { createHmac } from 'node:crypto';
import type { Config } from './config.ts';
import type { VariableName } from './environment-reader.ts';

/** 48 bits: exact as a number, and enough to tell a few processes apart. */
const fingerprintBytes = 6;

/** As metrics, of the values in use now: some change while the process runs. */
export function configurationFingerprints(config: Config): [gauge: string, value: number, of: string][] {
  const values: Partial<Record<VariableName, unknown>> = {
    API_KEYS: config.apiKeys,
    APPROVAL_ABOVE_RM: config.approvalAboveSen,
    BASE_URL: config.baseUrl,
    GATEWAY_SECRET: [config.gateway.secret, config.gateway.otherSecrets],
    LANDREG_ACCESS_KEY: config.landregAccessKeys,
    MAX_AMOUNT_RM: config.maxAmountSen,
    MERCHANTS_FILE: [...config.merchants],
    PAYMENT_METHODS_FILE: [...config.methods],
  };
  return Object.entries(values).map(([variable, value]) => {
    const text = JSON.stringify(['fingerprint of the configuration', variable, value]);
    const digest = createHmac('sha256', config.transactionIdKey).update(text).digest();
    return ['ledger_configuration_fingerprint', digest.readUIntBE(0, fingerprintBytes), variable];
  });
}
