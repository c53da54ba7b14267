/** A project that the content service lists: its events and their fold. Decisions: src/commands/project.ts. */
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { enums, integer, min, object, string } from 'superstruct';

export const projectStatuses = ['active', 'archived', 'draft'] as const;

export const projectEvents = {
  ProjectRegistered: object({
    at: utc,
    id: string(),
    name: string(),
    status: enums(projectStatuses),
    stars: min(integer(), 0),
  }),
};

export type ProjectEvent = EventOf<typeof projectEvents>;

export const projectStreamPrefix = 'project-';
export const projectStream = (id: string) => `${projectStreamPrefix}${id}`;

export type Project = Omit<ProjectEvent['data'], 'at'>;

/** Null before the first event. Total: a second registration changes nothing. */
export function evolveProject(state: Project | null, { data }: ProjectEvent): Project {
  if (state) return state;
  const { at: _, ...project } = data;
  return project;
}
