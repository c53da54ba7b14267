/** What a page or an action of the console is: a function of the request and of the dependencies that it names. */
import type { Context, RequestState } from '../../server/context.ts';
import type { PageDependencies } from '../dependencies.ts';
import type { Staff } from './session.ts';

/** A request that may come from anybody. */
export type VisitorContext = Context & { state: RequestState & { staff?: Staff } };

/** A request of somebody who is signed in and has the permission that the route names. */
export type StaffContext = Context & { state: { staff: Staff } };

export type Page = (ctx: StaffContext, dependencies: PageDependencies) => Promise<void>;
