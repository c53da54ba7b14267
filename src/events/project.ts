/** A project that the content service lists: its events and their fold. Decisions: src/commands/project.ts. */
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { enums, integer, min, object, string } from 'superstruct';
import { type Fold, readerOf } from './codec.ts';

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

export type Project = Omit<ProjectEvent['data'], 'at'>;

export const projectFold: Fold<Project | null, ProjectEvent> = {
  prefix: 'project-',
  initial: null,
  read: readerOf(projectEvents),
  evolve(state, { data: { at: _, ...project } }) {
    return state ?? project;
  },
};
export const projectStream = (id: string) => `${projectFold.prefix}${id}`;
