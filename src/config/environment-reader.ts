/** Reads the variables of content/variables.json. */
import { type Environment, readVariables } from '@ledger/kernel/environment.ts';
import { variables } from './variables.ts';

/** security.ts checks for each. */
const insecurities = [
  'eventstore',
  'link-key',
  'mail',
  'passkeys',
  'postgres',
  'registry',
  'sandbox',
  'shared-secrets',
  'short-secrets',
] as const;

export type EnvironmentReader = ReturnType<typeof readEnvironment>;

export const readEnvironment = (
  environment: Environment,
  provided: Environment,
  used: ReadonlySet<string> | null = null,
) => readVariables({ variables, insecurities }, environment, provided, used);
