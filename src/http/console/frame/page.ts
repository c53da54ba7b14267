/** What a page or an action of the console is: a function of the request and of the dependencies that it names. */
import type { Context } from '../../server/context.ts';
import type { ConsoleDependencies } from '../dependencies.ts';
import type { Staff } from './staff.ts';

/** A request of somebody who is signed in and has the permission that the route names. */
export type StaffContext = Context & { state: { staff: Staff } };

export type Page = (ctx: StaffContext, dependencies: ConsoleDependencies) => Promise<void>;
