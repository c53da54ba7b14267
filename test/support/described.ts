/** Answers of the app compared with what the description of the API says of them. */
import type { ExecutionContext } from 'ava';
import { createDescription } from '../../src/http/openapi.ts';
import { createCheck, type Description } from '../conformance/answers.ts';
import { sen } from './payments.ts';

const description = createDescription({
  baseUrl: 'https://payments.example',
  production: false,
  maxAmountSen: sen(100_000_000),
  sandbox: { enabled: false },
}) as unknown as Description;
const faultOf = createCheck(description);

/** The body, which must be as the description of the operation says. */
export async function described(t: ExecutionContext, response: Response, path: string, method = 'get') {
  const operation = description.paths[path]?.[method];
  if (!operation) throw new Error('no such operation');
  const body = await response.text();
  const headers = Object.fromEntries(response.headers);
  t.is(faultOf(operation, { status: response.status, headers, body }), null);
  return body;
}
