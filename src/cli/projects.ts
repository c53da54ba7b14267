/** `ledger projects`: staff register a project, which GET /api/v1/projects lists. */
import { createExecute } from '../commands/execute.ts';
import { readFields } from '../commands/fields.ts';
import { NewProject, projectDecider, projectIdOf } from '../commands/project.ts';
import type { Config } from '../config/config.ts';
import type { Cause } from '../events/envelope.ts';
import { projectStream } from '../events/project.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { type Command, UsageError } from './command.ts';
import { asStaff, staffCause } from './staff.ts';

export const projects: Command = {
  summary: 'registers a project',
  usage: 'add --name NAME --status active|archived|draft [--stars N]',
  options: { name: { type: 'string' }, status: { type: 'string' }, stars: { type: 'string' } },
  takesArguments: true,
  async run(values, args) {
    if (args.join(' ') !== 'add')
      throw new UsageError('The one thing to do with projects here is to add one');
    return asStaff(async (eventStore, config) => {
      const { stars = '0' } = values;
      const project = readFields(
        { ...values, stars: /^\d+$/.test(stars) ? Number(stars) : stars },
        NewProject,
      );
      const { id, isNew } = await register(eventStore, config, project, staffCause());
      return `Project ${id} is ${isNew ? 'registered' : 'registered already'}.`;
    });
  },
};

type Key = Pick<Config, 'transactionIdKey'>;

const samples: readonly NewProject[] = [
  { name: 'Payment ledger', status: 'active', stars: 128 },
  { name: 'Land registry integration', status: 'active', stars: 42 },
  { name: 'Reconciliation reports', status: 'draft', stars: 7 },
  { name: 'Paper receipts', status: 'archived', stars: 1 },
];

/** So that a development list is not empty. Where they are there already nothing is added. */
export async function registerSampleProjects(eventStore: EventStore, config: Key): Promise<void> {
  for (const project of samples) await register(eventStore, config, project, staffCause());
}

async function register(
  eventStore: EventStore,
  { transactionIdKey }: Key,
  project: NewProject,
  cause: Cause,
): Promise<{ id: string; isNew: boolean }> {
  const id = projectIdOf(transactionIdKey, project.name);
  const execute = createExecute({ eventStore, decider: projectDecider });
  const { events } = await execute(
    projectStream(id),
    { type: 'RegisterProject', at: new Date().toISOString(), id, project },
    cause,
    { creates: true },
  );
  return { id, isNew: events.length > 0 };
}
