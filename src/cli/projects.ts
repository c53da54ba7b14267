/** `ledger projects`: staff register a project, which GET /api/v1/projects lists. */
import { createExecute } from '../commands/execute.ts';
import { readFields } from '../commands/fields.ts';
import { NewProject, projectDecider, projectIdOf } from '../commands/project.ts';
import type { Config } from '../config/config.ts';
import { projectStream } from '../events/project.ts';
import type { OpenStores } from '../roles/stores.ts';
import { type CommandOf, UsageError } from './command.ts';
import { staffCause, withStores } from './stores.ts';

const needs = { uses: ['transactionIdKey'], needs: ['eventStore'] } as const;

export const command: CommandOf<'projects'> = async ({ stars = '0', ...values }, args) => {
  if (args.join(' ') !== 'add') throw new UsageError('`ledger projects` has one action: add');
  return await withStores('projects', needs, async (context) => {
    const project = { ...values, stars: /^\d+$/.test(stars) ? Number(stars) : stars };
    const { id, isNew } = await register(context, readFields(project, NewProject));
    return {
      data: { id, isNew },
      text: `Project ${id} is ${isNew ? 'registered' : 'registered already'}.`,
    };
  });
};

type ProjectsContext = Pick<OpenStores, 'eventStore' | 'runtime'> & {
  config: Pick<Config, 'transactionIdKey'>;
};

const samples: readonly NewProject[] = [
  { name: 'Payment ledger', status: 'active', stars: 128 },
  { name: 'Land registry integration', status: 'active', stars: 42 },
  { name: 'Reconciliation reports', status: 'draft', stars: 7 },
  { name: 'Paper receipts', status: 'archived', stars: 1 },
];

/** Gives the list some content in development. Samples that are already registered stay unchanged. */
export async function registerSampleProjects(context: ProjectsContext): Promise<void> {
  for (const project of samples) await register(context, project);
}

async function register({ config, eventStore, runtime }: ProjectsContext, project: NewProject) {
  const id = projectIdOf(config.transactionIdKey, project.name);
  const execute = createExecute({ eventStore, decider: projectDecider });
  const { events } = await execute(
    projectStream(id),
    { type: 'RegisterProject', at: runtime.now().toISOString(), id, project },
    staffCause(),
    { creates: true },
  );
  return { id, isNew: events.length > 0 };
}
