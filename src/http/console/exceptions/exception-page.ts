/** One exception: shows it with its resolution, or with the form in which staff record what they did about it. */
import { InvalidFields } from '../../../commands/fields.ts';
import type { PaymentCommand } from '../../../commands/payment.ts';
import type { ApprovalEvent } from '../../../events/approvals.ts';
import { UnreadableEvent } from '../../../events/codec.ts';
import type { Cause } from '../../../events/envelope.ts';
import { paymentStream } from '../../../events/payment.ts';
import { standingOf } from '../../../events/payment-standing.ts';
import { type Context, HttpProblem } from '../../server/context.ts';
import { loadHistory } from '../../server/load-history.ts';
import { type Effect, effectOf, isConfirmed } from '../frame/confirm.ts';
import type { FormPage } from '../frame/form-page.ts';
import { type Fields, linesOf, readNote } from '../frame/forms-and-lists.ts';
import { leadTo, type NoticeCode, type PageDependencies, staffCause } from '../frame/page.ts';
import { actorNames, type StaffContext } from '../frame/session.ts';
import { type ConsoleTexts, textsOf } from '../texts.ts';

type ExceptionTexts = ConsoleTexts['exceptions'];

type Resolution<Choice> = { resolution: Choice; note: string; at: string };

export type ResolutionName = keyof ExceptionTexts['resolutions'];

export type FoundException<Choice extends ResolutionName> = {
  kind: keyof (ExceptionTexts['kinds'] & ExceptionTexts['discrepancies']);
  model: Record<string, unknown>;
  choices: readonly Choice[];
  resolved: Resolution<Choice> | null;
  /** `staff:<id>`, as `proposedBy` of an approval. */
  resolvedBy: string;
  proposedBy?: string;
  /** `fields` is the whole form; `isAnswered`: a page is shown. Throws InvalidFields, and Refused if it is resolved. */
  resolve(
    resolution: Resolution<Choice>,
    cause: Cause,
    fields: Fields,
  ): Promise<{ events: readonly { type: string }[]; isAnswered?: boolean }>;
  /** What that would do to a payment; absent where no money can move. Throws what `resolve` throws. */
  effect?(resolution: Resolution<Choice>, fields: Fields): Effect;
};

/** The name of a template in views/console/exceptions, and of the texts that say what each of its choices means. */
type ExceptionName = keyof ExceptionTexts['meanings'];

type ChoiceOf<Name extends ExceptionName> = keyof ExceptionTexts['meanings'][Name] & ResolutionName;

/** What to say after an event other than a resolution. */
const notices = {
  ApprovalRequested: 'approval-requested',
  ApprovalGranted: 'approved',
  ApprovalRejected: 'rejected',
} as const satisfies Record<ApprovalEvent['type'], NoticeCode>;

const emptyForm = { resolution: '', note: '', amount: '', gatewayTransactionId: '' };

/** The payment of the path, and the number of what is asked for. Throws HttpProblem 404 and UnreadableEvent. */
export async function loadNumbered(ctx: StaffContext, { eventStore, execute }: PageDependencies) {
  const { entries, events, head, payment } = await loadHistory(ctx, eventStore);
  const { id: transactionId = '', no = '' } = ctx.params;
  if (!head) throw new UnreadableEvent('The events of the payment of an exception cannot be read');
  if (!payment || !/^[1-9]\d{0,5}$/.test(no)) throw noSuchException();
  const { merchant, reference } = payment.request;
  const about = { transactionId, merchant, reference, paymentStatus: standingOf(payment) };
  /** How a command on the payment resolves it. */
  const resolvedWith = <Given>(commandOf: (given: Given, fields: Fields) => PaymentCommand) => ({
    effect: (given: Given, fields: Fields) => effectOf(commandOf(given, fields), payment, events),
    resolve: (given: Given, cause: Cause, fields: Fields) =>
      execute(paymentStream(transactionId), commandOf(given, fields), cause, { from: head }),
  });
  return { no: Number(no), entries, events, payment, about, resolvedWith };
}

const kindText = ({ discrepancies, kinds }: ExceptionTexts, kind: FoundException<ResolutionName>['kind']) =>
  ({ ...kinds, ...discrepancies })[kind];

export const noSuchException = () => new HttpProblem(404, 'There is no such exception');

/** The model of views/console/exceptions/exception.njk. */
export async function exceptionModel<Name extends ExceptionName>(
  ctx: Context,
  { eventStore }: PageDependencies,
  name: Name,
  { choices, kind, model, proposedBy = '', resolved, resolvedBy }: FoundException<ChoiceOf<Name>>,
  typed: Fields | null = null,
): Promise<Record<string, unknown>> {
  const { exceptions } = textsOf(ctx);
  const meanings: Readonly<Record<ChoiceOf<Name>, unknown>> = exceptions.meanings[name];
  const nameOf = await actorNames(eventStore, [resolvedBy, proposedBy]);
  const textOf = (value: ChoiceOf<Name>) => ({
    name: exceptions.resolutions[value],
    meaning: meanings[value],
  });
  return {
    title: kindText(exceptions, kind).name,
    meaning: kindText(exceptions, kind).meaning,
    url: ctx.path,
    ...model,
    resolved: resolved && { ...resolved, ...textOf(resolved.resolution), by: nameOf(resolvedBy) },
    proposedBy: nameOf(proposedBy),
    choices: choices.map((value) => ({ value, ...textOf(value) })),
    typed: { ...emptyForm, ...typed, note: linesOf(typed?.note) },
  };
}

/** `find` throws HttpProblem 404 if the path names no exception. */
export const exceptionForm = <Name extends ExceptionName>(
  name: Name,
  find: (ctx: StaffContext, dependencies: PageDependencies) => Promise<FoundException<ChoiceOf<Name>>>,
): FormPage => ({
  template: `exceptions/${name}.njk`,
  model: async (ctx, dependencies, typed) =>
    exceptionModel(ctx, dependencies, name, await find(ctx, dependencies), typed),
  async submit(ctx, dependencies, form) {
    const { choices, effect, kind, resolve } = await find(ctx, dependencies);
    const resolution = choices.find((choice) => choice === form.resolution);
    if (resolution === undefined) throw new InvalidFields('Choose what was done');
    const note = readNote('note', form.note);
    const given = { at: dependencies.runtime.now().toISOString(), resolution, note };
    const asked = effect?.(given, form) ?? { entries: [], isProposal: false };
    const { exceptions } = textsOf(ctx);
    const title = `${kindText(exceptions, kind).name}: ${exceptions.resolutions[resolution]}`;
    if (!(await isConfirmed(ctx, dependencies, title, asked))) return;
    const { events, isAnswered } = await resolve(given, staffCause(ctx), form);
    if (isAnswered) return;
    const told = events.find(({ type }) => Object.hasOwn(notices, type))?.type as keyof typeof notices;
    // Nothing is recorded if the same is proposed again.
    const isDone = events.length > 0 || (await find(ctx, dependencies)).resolved;
    leadTo(ctx, ctx.path, notices[told] ?? (isDone ? 'resolved' : 'approval-requested'));
  },
});
