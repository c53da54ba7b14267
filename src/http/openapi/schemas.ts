/** The schemas of the description that are generated from the structs by which requests and answers are validated. */

import type { AnyStruct } from '@ledger/kernel/json-schema.ts';
import { NewUser } from '../../commands/user.ts';
import type { Config } from '../../config/config.ts';
import { ErrorResponse, Health, Project, User } from '../api/bodies.ts';
import { Rotation } from '../generic/credentials.ts';
import { testCallbackBody } from '../generic/payments/test-callback.ts';
import { paymentRequestBody as genericRequestBody } from '../generic/request-body.ts';
import { paymentRequestBody as landregRequestBody } from '../landreg/request-body.ts';

/** By the names of the schemas; all others are in content/openapi. Limits are those of `config`. */
export function structsOf(config: Pick<Config, 'production' | 'maxAmountSen'>): Record<string, AnyStruct> {
  return {
    HealthResponse: Health,
    User,
    CreateUserPayload: NewUser,
    Project,
    ErrorResponse,
    GenericPaymentRequest: genericRequestBody(config),
    Rotation,
    TestCallback: testCallbackBody(config),
    LandregPaymentRequest: landregRequestBody(config),
  };
}
