/** What a decider is, and how it refuses a command. */
import type refusals from '../../content/refusals.json';
import type { Fold } from '../events/codec.ts';
import { evolve, type Payment, type PaymentEvent, type RequestedPayment } from '../events/payment.ts';

export type Decider<State, Command, Event> = Fold<State, Event> & {
  /** Only part of a stream is loaded for it. */
  readsPart?: boolean;
  /** Pure: no clock, no randomness, no I/O; times and ids come with the command. */
  decide(command: Command, state: State): Decision<Event>;
};

/** The events, none if the command has already taken effect; or why it is refused. */
export type Decision<Event> = readonly Event[] | Refused;
export type PaymentDecision = Decision<PaymentEvent>;

/** The payment after events that have been decided but not stored yet. */
export function afterEvents(payment: RequestedPayment, events: readonly PaymentEvent[]): RequestedPayment {
  return events.reduce<Payment>(evolve, payment) as RequestedPayment;
}

/** Why a command was refused: content/refusals.json also has the status that http answers. */
export type RefusalCode = keyof typeof refusals;

/** An expected refusal: `decide` returns it, and `execute` throws it, so that http handles it in one place. */
export class Refused extends Error {
  override name = 'Refused';
  readonly code: RefusalCode;
  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}
