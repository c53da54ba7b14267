// Events as they were stored, one file per type and schema version, kept for good: what was once written must
// stay readable and mean the same. golden/v<n>/<Type>.json is an event; golden/states.json the state it leads to.
// golden/histories-v1.jsonl has whole payments of version 1, with the state and the entries that the program of that
// version made of them.
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import {
  readPaymentEvent,
  readProjectEvent,
  readRebuildEvent,
  readReconciliationEvent,
  readSeal,
  readSessionEvent,
  readUnmatchedEvent,
  readUnmatchedResult,
  readUserEvent,
} from '../../src/events/codec.ts';
import { deliveryEvents } from '../../src/events/deliveries.ts';
import { hashOf, type Metadata } from '../../src/events/envelope.ts';
import {
  evolve,
  noPayment,
  type Payment,
  type PaymentEvent,
  paymentEvents,
} from '../../src/events/payment.ts';
import { type Books, type Entry, enter } from '../../src/events/postings.ts';
import { evolveProject, projectEvents } from '../../src/events/project.ts';
import { evolveRebuilds, noRebuilds, rebuildEvents } from '../../src/events/rebuild.ts';
import {
  type Discrepancy,
  evolveDiscrepancy,
  reconciliationEvents,
} from '../../src/events/reconciliation.ts';
import { evolveSession, type Session, sessionEvents } from '../../src/events/session.ts';
import { evolveUnmatched, unmatchedEvents } from '../../src/events/unmatched.ts';
import { schemaVersion } from '../../src/events/upcast.ts';
import { type Account, evolveUser, userEvents } from '../../src/events/user.ts';

type Golden = { type: string; data: unknown; metadata: Metadata };

const folder = new URL('golden/', import.meta.url);
const json = (path: string): unknown => JSON.parse(readFileSync(new URL(path, folder), 'utf8'));
const golden = (version: number, type: string) => json(`v${version}/${type}.json`) as Golden;
const states = json('states.json') as Record<string, unknown>;

/** The state after a golden event. */
function stateAfter(version: number, type: string): unknown {
  if (Object.hasOwn(userEvents, type)) {
    const events = [...new Set(['UserCreated', type])].map((name) => readUserEvent(golden(version, name)));
    return events.reduce<Account | null>(evolveUser, null);
  }
  if (Object.hasOwn(sessionEvents, type)) {
    const begun = type === 'SignInLinkIssued' ? [] : ['SignedIn'];
    const events = [...new Set([...begun, type])].map((name) => readSessionEvent(golden(version, name)));
    return events.reduce<Session | null>(evolveSession, null);
  }
  if (Object.hasOwn(projectEvents, type)) return evolveProject(null, readProjectEvent(golden(version, type)));
  if (Object.hasOwn(rebuildEvents, type))
    return evolveRebuilds(noRebuilds, readRebuildEvent(golden(version, type)));
  if (Object.hasOwn(reconciliationEvents, type)) {
    const types = [...new Set(['ReconciliationDifferenceFound', type])];
    const events = types.map((name) => readReconciliationEvent(golden(version, name)));
    return events.reduce<Discrepancy | null>(evolveDiscrepancy, null);
  }
  if (type === 'GatewayResultUnmatched') return readUnmatchedResult(golden(version, type)).data;
  if (type === 'LogSealed') return readSeal(golden(version, type)).data;
  if (Object.hasOwn(unmatchedEvents, type))
    return evolveUnmatched(null, readUnmatchedEvent(golden(version, type)));
  const events = [...before(type), type].map((name) => readPaymentEvent(golden(version, name)));
  return events.reduce<Payment>(evolve, noPayment);
}

/** What happened to the payment before a golden event: enough for it to mean something. */
function before(type: string): string[] {
  if (type === 'PaymentRequested') return [];
  if (type === 'PaymentMethodChosen') return ['PaymentRequested'];
  const chosen = ['PaymentRequested', 'PaymentMethodChosen'];
  if (type === 'ExceptionResolved') return [...chosen, 'AmountMismatchDetected'];
  if (!Object.hasOwn(deliveryEvents, type)) return chosen;
  const paid = [...chosen, 'PaymentSucceeded'];
  const isAskedAgain = type === 'CallbackRequested' || type === 'ReceiptEmailRequested';
  return isAskedAgain ? [...paid, type.replace('Requested', 'Abandoned')] : paid;
}

const versions = Array.from({ length: schemaVersion }, (_, index) => index + 1);

test('every event type has a golden file of the current version', (t) => {
  const files = readdirSync(new URL(`v${schemaVersion}/`, folder)).map((name) => name.replace('.json', ''));
  const types = Object.keys({
    ...paymentEvents,
    ...userEvents,
    ...projectEvents,
    ...rebuildEvents,
    ...unmatchedEvents,
    ...sessionEvents,
    ...reconciliationEvents,
  });
  t.deepEqual(files.toSorted(), [...types, 'GatewayResultUnmatched', 'LogSealed'].toSorted());
});

for (const version of versions) {
  for (const file of readdirSync(new URL(`v${version}/`, folder))) {
    const type = file.replace('.json', '');

    test(`v${version} ${type} is read, and folds into the same state as ever`, (t) => {
      t.deepEqual(stateAfter(version, type), states[type]);
    });

    test(`v${version} ${type} still has its hash`, (t) => {
      const { data, metadata } = golden(version, type);
      t.is(metadata.schemaVersion, version);
      t.is(hashOf(type, data, metadata), metadata.hash);
    });
  }
}

type StoredHistory = {
  events: { type: string; data: unknown }[];
  state: unknown;
  books: unknown;
  entries: unknown;
};

/** An amount of an entry is a bigint, and in the file a text. */
const asStored = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each)));

function entriesOf(events: readonly PaymentEvent[]) {
  let books: Books | null = null;
  const entries: Entry[] = [];
  for (const event of events) {
    const entered = enter(books, event);
    books = entered.books;
    if (entered.entry) entries.push(entered.entry);
  }
  return { books, entries };
}

const histories = readFileSync(new URL('histories-v1.jsonl', folder), 'utf8').trimEnd().split('\n');
for (const [index, line] of histories.entries()) {
  test(`history ${index + 1} of version 1 has the same state, deliveries and entries as ever`, (t) => {
    const { events, state, ...journal } = JSON.parse(line) as StoredHistory;
    const read = events.map((event) => readPaymentEvent({ ...event, metadata: { schemaVersion: 1 } }));
    const folded = read.reduce<Payment>(evolve, noPayment);
    if (folded.status === 'none') return t.fail();
    const { emailReceipt, ...request } = folded.request;
    t.is(emailReceipt, request.payer.email !== '');
    t.deepEqual({ ...folded, request }, state as typeof folded);
    t.deepEqual(asStored(entriesOf(read)), journal);
  });
}
