/** What a simulation found wrong. */
import type { History } from './engine/history.ts';

/** Checked always. */
export const safety = {
  'acknowledged-lost': 'What the program acknowledged is no longer in the log',
  'booked-twice': 'The books hold more than was really charged for a payment',
  'refunded-twice': 'More was refunded than was charged',
  'decided-alone': 'Somebody approved what was proposed by the same person, or what was decided already',
  'verdict-unasked': 'A verdict was recorded on an attempt about which staff were not, or no longer, asked',
  'settled-twice': 'The books hold a payout or a remittance twice',
  'settlement-misjudged':
    'Staff were told wrongly which charges of a payout the books lack, or another payout has',
  'collected-wrong':
    'The daily statement of an agency lacks a payment, has it twice, or on another day than the bank charged it',
  'import-misjudged': 'What is open of an export is not what differs between it and the payments',
  unbalanced: 'The debits of an entry are not its credits',
  'status-backwards': 'A payment that had succeeded no longer has',
  'receipt-changed': 'The receipt number of a paid payment changed',
  'chain-broken': 'An event is not chained onto the one before it',
  'false-not-found': 'A payment that was acknowledged was answered as unknown',
  'two-payments': 'One reference of a merchant has two payments',
  'signed-result-refused': 'A signed result was neither recorded nor kept',
  'quarantine-repeats': 'The quarantine holds the same result more than once',
  'gateway-id-twice': 'One gateway transaction pays two payments, and nobody is told',
  'unpaid-again': 'A merchant was told that a payment is not paid, although it had been paid',
  'paid-unrecorded': 'A merchant was told that a payment is paid, and it is not',
  'list-wrong': "A list of a merchant's payments lacks one, has one twice or tells a wrong status",
  'key-refused': 'A merchant was refused with a key that is valid',
  'callback-unsigned': 'A callback is not signed with each secret that is valid, or with one that has ended',
  'callback-overtaken': 'A callback with an older status was sent after a newer one',
  'item-changed':
    'The land registry got an item twice with different figures, or one that is not part of a payment',
  'item-lost': 'An item counts as reported, and the land registry has not booked it',
  'sent-unrecorded': 'A receiver got a delivery more often than attempts are recorded',
  'request-forgotten': 'A delivery was not sent again, and staff were told that it would be',
  'link-refused': 'A link, a receipt or a page that was signed under a key that still counts was refused',
  'revoked-opens':
    'A link under a key that was dropped opens, a key of a merchant that has ended, or the console to whom it is closed',
  'clerk-refused': 'The console refused what the account of somebody allows',
  'erased-sent': 'Personal data were sent, or are in an email that was kept, after they had been erased',
  'erased-early': 'Personal data were erased before their age, or while staff needed them',
  'subject-missed': 'What is held about a person was not found when they asked',
  'verify-blind': 'The daily verification does not tell of what is wrong',
  'verify-cries-wolf': 'The daily verification tells of something that is not wrong',
  'verify-twice': 'Two daily verifications of one day were recorded',
  'callback-doubled': 'One callback was sent twice at the same time',
  'page-denies-charge': 'A page asks the payer to pay although a charge is recorded',
  'discrepancy-hidden': 'An older export cleared what a newer one had found',
  'withdrawn-paid': 'An attempt began after the agency had cancelled the payment, or after it had expired',
  'slow-answer': 'A request waited longer than 13 s for its answer, or health longer than 2 s',
  'process-died': 'An error that nobody caught ended a process',
  'program-fault': 'The program logged an error of its own',
} as const;

/** Checked after all faults have ended, within a bound of simulated time. */
export const liveness = {
  'charge-unknown': 'A real charge is neither in the books nor in front of staff',
  unwitnessed: 'A seal lacks the signature of a witness that would have signed it',
  'attempt-untold': 'The schedule of an attempt has ended, and it is not before staff',
  'expiry-forgotten': 'A payment that has expired, and that waits for no bank, is not cancelled',
  'delivery-stuck': 'A delivery is neither delivered nor given up',
  'callback-late': 'The merchant heard of an outcome too late although it could have been told',
  'not-erased':
    'Personal data are held or can be read, although they are due, or staff or the log say that they are erased',
  'rotation-stuck': 'A key is not replaced although every step was taken',
  'request-open': 'What staff requested of a projection was neither done nor answered',
  'verify-missed': 'Nothing was verified on a day, or staff do not see what was found',
  'projection-behind': 'A projection has not caught up with the log',
  'rows-differ': 'Rows are not what the events lead to',
  'export-wrong': 'An export of all payments lacks one, or an auditor is told that it was changed',
  'health-lies': 'Health says ok while one of the above is false, or while it should tell of what fails',
  'health-cries-wolf': 'Health says that something is wrong, and nothing is',
} as const;

export type Invariant = keyof typeof safety | keyof typeof liveness;

export const meaningOf = (invariant: Invariant): string => ({ ...safety, ...liveness })[invariant];

/** `about` is the payment or process that it concerns. */
export type Violation = { invariant: Invariant; about: string; text: string; atMs: number };

export type Report = (invariant: Invariant, about: string, text: string) => void;

/** Keeps the first violation of each invariant about each thing. */
export function createViolations(history: History, nowMs: () => number) {
  const found = new Map<string, Violation>();
  const report: Report = (invariant, about, text) => {
    const key = `${invariant} ${about}`;
    if (found.has(key)) return;
    found.set(key, { invariant, about, text, atMs: nowMs() });
    // Where it was in the code is known in some runs only.
    history.tell(`VIOLATION ${invariant}: ${about}: ${text.split('\n')[0]}`);
  };
  return { report, all: () => [...found.values()] };
}
