/** Why a page of the console is not shown: `new ConsoleProblem(status, message)`, the message being for staff. */
export { HttpProblem as ConsoleProblem } from '../../server/errors.ts';
