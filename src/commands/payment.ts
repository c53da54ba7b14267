/** Decisions about a payment, on either channel. Results are decided in payment-result.ts, deliveries in deliveries.ts. */
import { canonicalJson } from '@ledger/kernel/canonical-json.ts';
import { isSameContent } from '@ledger/personal-data/fingerprint.ts';
import { type ErasureReason, isHolding } from '@ledger/personal-data/sealed.ts';
import type { Language } from '../common/languages.ts';
import type { Sen } from '../common/money.ts';
import type { PaymentMode } from '../common/payment-modes.ts';
import {
  type Attempt,
  type Payment,
  type PaymentEvent,
  type PaymentRequested,
  paymentFold,
  type RequestedPayment,
} from '../events/payment.ts';
import { openAttempts } from '../events/requery-schedule.ts';
import { type DecideApproval, decideApproval, type TakeAction, takeAction } from './approvals.ts';
import { type CancelPayment, cancelPayment } from './cancel.ts';
import { type Decider, type PaymentDecision, Refused } from './decider.ts';
import { type DeliveryCommand, decideDelivery } from './deliveries.ts';
import type { Execute } from './execute.ts';
import { isPaymentOf, type RecordGatewayResult, recordGatewayResult } from './payment-result.ts';
import { refusalToBegin } from './refusal-to-pay.ts';
import { type RecordRequery, recordRequery } from './requery.ts';
import { type GiveVerdict, giveVerdict } from './unknown-attempt-outcomes.ts';

export type RequestPayment = { type: 'RequestPayment'; request: PaymentRequested };

export type ChoosePaymentMethod = {
  type: 'ChoosePaymentMethod';
  at: string;
  /** The number of the attempt that the page was made for, so that sending the same page twice makes one attempt. */
  attempt: number;
  mode: PaymentMode;
  bankCode: string;
  chargeSen: Sen;
  lang: Language;
  /** The payer wants another attempt although earlier ones are open. */
  again: boolean;
};

export type PaymentCommand =
  | RequestPayment
  | ChoosePaymentMethod
  | CancelPayment
  | RecordGatewayResult
  | RecordRequery
  | TakeAction
  | DecideApproval
  | GiveVerdict
  | AddNote
  | ErasePersonalData
  | DeliveryCommand;

export type ExecutePayment = Execute<Payment, PaymentCommand, PaymentEvent>;

/** Records that the personal data have been erased. Their keys are destroyed in src/personal-data/erase.ts. */
export type ErasePersonalData = {
  type: 'ErasePersonalData';
  at: string;
  reason: ErasureReason;
  destroyed: readonly string[];
};

/** What staff write about a payment for their colleagues. */
type AddNote = { type: 'AddNote'; at: string; note: string };

/** A payer who still cannot pay by then needs help from a person. */
export const maxAttempts = 50;
/** Limits the length of the stream. */
export const maxAttemptsEver = 500;
/** How long an attempt without a result counts towards the limit: anybody who has the link can begin one. */
const unusedCountsMs = 24 * 60 * 60_000;

export const paymentDecider: Decider<Payment, PaymentCommand, PaymentEvent> = {
  ...paymentFold,
  decide(command, state) {
    if (command.type === 'RequestPayment') return requestPayment(command, state);
    const isReport = command.type === 'RecordGatewayResult' || command.type === 'RecordRequery';
    if (isReport && !isPaymentOf(command, state))
      return new Refused('unmatched_result', 'No such transaction');
    if (state.status === 'none') return new Refused('unknown_payment', 'Payment not found');
    switch (command.type) {
      case 'ChoosePaymentMethod':
        return choosePaymentMethod(command, state);
      case 'RecordGatewayResult':
        return recordGatewayResult(command, state);
      case 'RecordRequery':
        return recordRequery(command, state);
      case 'CancelPayment':
        return cancelPayment(command, state);
      case 'TakeAction':
        return takeAction(command, state);
      case 'DecideApproval':
        return decideApproval(command, state);
      case 'GiveVerdict':
        return giveVerdict(command, state);
      case 'AddNote':
        return addNote(command, state);
      case 'ErasePersonalData':
        return erasePersonalData(command, state);
      default:
        return decideDelivery(command, state);
    }
  },
};

function requestPayment({ request }: RequestPayment, state: Payment): PaymentDecision {
  if (state.status === 'none') {
    if (request.expiresAt !== undefined && request.expiresAt <= request.at)
      return new Refused('expired_already', 'expires_at must be in the future');
    return [{ type: 'PaymentRequested', data: request }];
  }
  if (contentOf(request) === contentOf(state.request) && isSamePerson(state.request, request)) return [];
  return new Refused('request_differs', 'This reference was already used for a payment with other content');
}

function isSamePerson(held: RequestedPayment['request'], given: PaymentRequested): boolean {
  return isSameContent({ ...held, content: held.personal }, { ...given, content: given.personal });
}

/** What the merchant asked for, in NFC, without personal data, its time, and what our own configuration added. */
function contentOf(request: RequestedPayment['request']): string {
  const { at: _, personal: __, fingerprint: ___, emailReceipt: ____, merchant, ...content } = request;
  return canonicalJson({ ...content, merchantCode: merchant.code }).normalize();
}

function choosePaymentMethod(command: ChoosePaymentMethod, state: RequestedPayment): PaymentDecision {
  const { at, mode, bankCode, chargeSen, lang } = command;
  const refusal = refusalToBegin(state, at);
  if (refusal) return refusal;
  if (chosenAttempt(state, command)) return [];
  if (isUnconfirmed(command, state))
    return new Refused('attempt_open', 'An earlier attempt is open: the payer has to confirm another');
  if (countedAttempts(state, at) >= maxAttempts || state.attempts.length >= maxAttemptsEver)
    return new Refused('too_many_attempts', `A payment can be attempted ${maxAttempts} times`);
  const attempt = state.attempts.length + 1;
  const sellerOrderNo = `${state.request.transactionId}-${attempt}`;
  const data = { at, attempt, mode, bankCode, chargeSen, sellerOrderNo, lang };
  return [{ type: 'PaymentMethodChosen', data }];
}

/** Refused after an erasure, which the next pass would extend to the note. */
function addNote({ at, note }: AddNote, { personalData }: RequestedPayment): PaymentDecision {
  if (personalData.erasedAt !== null)
    return new Refused('note_not_kept', 'The personal data of this payment are erased, and notes with them');
  return [{ type: 'StaffNoteAdded', data: { at, personal: { plain: { note } } } }];
}

/** Refused when an event has added personal data since the keys were destroyed: destroy those too, and ask again. */
function erasePersonalData(
  { at, reason, destroyed }: ErasePersonalData,
  state: RequestedPayment,
): PaymentDecision {
  const { keys } = state.personalData;
  if (!isHolding(state.personalData)) return [];
  if (keys.some((key) => !destroyed.includes(key)))
    return new Refused('personal_data_added', 'Personal data were added while others were erased');
  return [{ type: 'PersonalDataErased', data: { at, reason, keys: [...keys] } }];
}

function countedAttempts({ attempts, results }: RequestedPayment, at: string): number {
  const used = new Set(results.map(({ sellerOrderNo }) => sellerOrderNo));
  const since = Date.parse(at) - unusedCountsMs;
  return attempts.filter((each) => used.has(each.sellerOrderNo) || Date.parse(each.at) > since).length;
}

/** Whether an attempt is open that the payer did not see on the page, or after which the payer did not ask for another. */
function isUnconfirmed({ attempt, again }: ChoosePaymentMethod, state: RequestedPayment): boolean {
  const unseen = new Set(state.attempts.slice(attempt - 1).map(({ sellerOrderNo }) => sellerOrderNo));
  return openAttempts(state).some(({ sellerOrderNo }) => !again || unseen.has(sellerOrderNo));
}

/**
 * The open attempt that this choice made, now or when it was first sent; null when there is none yet. One page can make
 * several attempts, because the payer may go back and choose another bank, so its number is only the lowest.
 */
export function chosenAttempt(
  state: RequestedPayment,
  choice: Pick<ChoosePaymentMethod, 'attempt' | 'mode' | 'bankCode'>,
): Attempt | null {
  const first = Math.max(choice.attempt - 1, state.closedAttempts);
  const since = state.attempts.slice(first);
  return since.find(({ mode, bankCode }) => mode === choice.mode && bankCode === choice.bankCode) ?? null;
}
