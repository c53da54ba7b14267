/**
 * Reads the variables of content/variables.json, which has each with its default and its meaning, in the order of the
 * reference page. Reading any other is a type error, so the page that `ledger configuration` prints is complete.
 */
import { type Environment, readVariables, type Variable } from '@ledger/kernel/environment.ts';
import groups from '../../content/variables.json' with { type: 'json' };

/** `meaning` is markdown; `otherwise` is the default on the reference page, where it depends on something. */
type Described = Variable & { otherwise?: string };

type Groups = typeof groups;
export type VariableName = { [Title in keyof Groups]: keyof Groups[Title] }[keyof Groups];

export const variableGroups: Readonly<Record<string, Readonly<Record<string, Described>>>> = groups;
export const variables: Readonly<Record<VariableName, Described>> = Object.assign(
  {},
  ...Object.values(groups),
);

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
