/** The schemas of the description that are generated from the structs by which requests and answers are validated. */
import { literal, object, string } from 'superstruct';
import { NewUser } from '../../commands/user.ts';
import type { Config } from '../../config/config.ts';
import { ErrorResponse, Health, Project, User } from '../api/bodies.ts';
import { paymentRequestBody as genericRequestBody } from '../generic/request-body.ts';
import { paymentRequestBody as landregRequestBody } from '../landreg/request-body.ts';
import {
  amount,
  paymentFields,
  paymentStarted,
  refusal,
  requeryAnswer,
  requeryRefusal,
} from '../pay/answers.ts';
import type { AnyStruct } from '../server/openapi/json-schema.ts';
import { id, matching, time } from '../server/openapi/structs.ts';

const checkOf = (caller: 'merchant_code' | 'service') =>
  object({
    status: literal(true),
    message: string(),
    data: object({ [caller]: string(), timestamp: time, environment: string() }),
  });

/** What the land registry is sent when an item was paid. */
const LandRegistryCallback = object({
  accountNo: string(),
  idHakmilik: string(),
  kodCaw: string(),
  resitNo: string(),
  amaun: amount,
  paymentDateTime: matching(/^\d{14}$/),
  paymentType: string(),
  fpxNo: string(),
  transId: id,
  dimasuk: string(),
});

/** By the names of the schemas. Limits are those of `config`. */
export function structsOf(config: Pick<Config, 'production' | 'maxAmountSen'>): Record<string, AnyStruct> {
  return {
    HealthResponse: Health,
    User,
    CreateUserPayload: NewUser,
    Project,
    ErrorResponse,
    PaymentStarted: paymentStarted,
    PaymentFields: paymentFields,
    RequeryAnswer: requeryAnswer,
    Refusal: refusal,
    RequeryRefusal: requeryRefusal,
    GenericCheck: checkOf('merchant_code'),
    GenericPaymentRequest: genericRequestBody(config),
    LandregCheck: checkOf('service'),
    LandregPaymentRequest: landregRequestBody(config),
    LandRegistryCallback,
  };
}
