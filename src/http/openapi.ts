/** The OpenAPI description of all interfaces: content/openapi, with schemas of the structs that validate. */
import { withJsonSchema } from '@ledger/kernel/with-json-schema.ts';
import { createDocument } from '@ledger/openapi/document.ts';
import type { AnyStruct } from '@ledger/openapi/json-schema.ts';
import { assign, object, optional, string } from 'superstruct';
import { NewUser } from '../commands/user.ts';
import type { Config } from '../config/config.ts';
import { ErrorResponse, Health, Project, User } from './api/bodies.ts';
import { Rotation } from './generic/credentials.ts';
import { testCallbackBody } from './generic/payments/test-callback.ts';
import { paymentRequestBody as genericRequestBody } from './generic/request.ts';
import { paymentRequestBody as landregRequestBody } from './landreg/request.ts';

const folder = new URL('../../content/openapi/', import.meta.url);
const credential = withJsonSchema(optional(string()), { type: 'string' });
const credentials = object({ merchant_code: credential, api_key: credential });
const keys = { apiKey: '<API_KEY>', merchantKey: '<API_KEY>', landregKey: '<ACCESS_KEY>' };

export type DescribedConfig = Pick<Config, 'baseUrl' | 'production' | 'maxAmountSen'> & {
  sandbox: { enabled: boolean };
};

/** Limits are those of `config`; the test pages are described only where they are served. */
export function createDescription(config: DescribedConfig) {
  const interfaces = ['generic', 'landreg', ...(config.sandbox.enabled ? ['test-pages'] : []), 'api'];
  return createDocument({ folder, interfaces, structs: structsOf(config), baseUrl: config.baseUrl, keys });
}

/** The structs by the names of their schemas; all others are in content/openapi. Limits are those of `config`. */
export function structsOf(config: Pick<Config, 'production' | 'maxAmountSen'>): Record<string, AnyStruct> {
  return {
    HealthResponse: Health,
    User,
    CreateUserPayload: NewUser,
    Project,
    ErrorResponse,
    GenericPaymentRequest: assign(credentials, genericRequestBody(config)),
    Rotation: assign(credentials, Rotation),
    TestCallback: assign(credentials, testCallbackBody(config)),
    LandregPaymentRequest: landregRequestBody(config),
  };
}
