/** Decisions about a project. The events are in src/events/project.ts. */
import { derivedId } from '@ledger/kernel/derived-id.ts';
import { maskable } from '@ledger/kernel/structs.ts';
import { define, type Infer } from 'superstruct';
import { type Project, type ProjectEvent, projectFold, projectStatuses } from '../events/project.ts';
import { type Decider, Refused } from './decider.ts';
import { name, oneOf } from './fields.ts';

export const NewProject = maskable({
  name,
  status: oneOf(projectStatuses),
  stars: define<number>(
    'stars',
    (value) => (Number.isSafeInteger(value) && (value as number) >= 0) || 'must be a whole number, 0 or more',
  ),
});
export type NewProject = Infer<typeof NewProject>;

export type RegisterProject = { type: 'RegisterProject'; at: string; id: string; project: NewProject };

/** One id per name, so that a name can be registered only once. */
export function projectIdOf(key: string, projectName: string): string {
  return derivedId(key, ['project', projectName]);
}

export const projectDecider: Decider<Project | null, RegisterProject, ProjectEvent> = {
  ...projectFold,
  /** Registering the same again changes nothing. */
  decide({ at, id, project }, state) {
    if (!state) return [{ type: 'ProjectRegistered', data: { at, id, ...project } }];
    const isSame = state.status === project.status && state.stars === project.stars;
    return isSame ? [] : new Refused('project_differs', 'A project with this name exists already');
  },
};
