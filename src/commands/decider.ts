/** What a decider is, and how it refuses a command. */

export type Decider<State, Command, Event> = {
  initial: State;
  /** Only part of a stream is loaded for it. */
  readsPart?: boolean;
  /** Reads a stored event as one of this decider's. Throws UnreadableEvent. */
  read(stored: { type: string; data: unknown; metadata: unknown }): Event;
  /**
   * Pure: no clock, no randomness, no I/O; times and ids come with the command. Returns the events, `[]` when the
   * command has already taken effect, or why it is refused.
   */
  decide(command: Command, state: State): readonly Event[] | Refused;
  /** Total: never throws. */
  evolve(state: State, event: Event): State;
};

/** Why a command was refused. src/http/server/errors.ts maps each code to a status. */
export type RefusalCode =
  | 'request_differs'
  | 'unknown_payment'
  | 'payment_pending'
  | 'payment_succeeded'
  | 'wrong_amount'
  | 'attempt_open'
  | 'too_many_attempts'
  | 'unmatched_result'
  | 'unknown_delivery'
  | 'delivery_superseded'
  | 'unknown_exception'
  | 'exception_resolved'
  | 'charge_recorded'
  | 'no_money_in_suspense'
  | 'nothing_to_refund'
  | 'refund_differs'
  | 'refund_too_large'
  | 'approval_open'
  | 'approval_decided'
  | 'own_proposal'
  | 'proposal_outdated'
  | 'personal_data_added'
  | 'invalid_settlement'
  | 'settlement_recorded'
  | 'unknown_settlement'
  | 'email_taken'
  | 'unknown_user'
  | 'own_account'
  | 'passkey_refused'
  | 'last_passkey'
  | 'too_many_passkeys'
  | 'unknown_link'
  | 'link_over'
  | 'session_over'
  | 'project_differs'
  | 'wrong_key';

/** An expected refusal: `decide` returns it, and `execute` throws it, so that http handles it in one place. */
export class Refused extends Error {
  override name = 'Refused';
  readonly code: RefusalCode;
  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}
