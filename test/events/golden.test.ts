// Events as they were stored, one file per type and schema version, kept for good: what was once written must
// stay readable and mean the same. golden/v<n>/<Type>.json is an event, and <Type>.<what>.json one with fields
// that were added later; golden/states.json the state it leads to.
// golden/histories-v1.jsonl has whole payments of version 1, with the state and the entries that the program of that
// version made of them.
import { readdirSync, readFileSync } from 'node:fs';
import type { Held, SealedPlace } from '@ledger/personal-data/sealed.ts';
import test from 'ava';
import { keyFingerprintDecider } from '../../src/commands/key-fingerprint.ts';
import { passkeyUseDecider } from '../../src/commands/passkeys.ts';
import { readAcknowledgement } from '../../src/events/acknowledgements.ts';
import { deliveryEvents } from '../../src/events/deliveries.ts';
import { hashOf, type Metadata } from '../../src/events/envelope.ts';
import { keyFingerprintEvents, keyFingerprintFold } from '../../src/events/key-fingerprint.ts';
import { type Credential, merchantEvents, merchantFold } from '../../src/events/merchant.ts';
import { type OpenPayment, openPayment } from '../../src/events/open-payment.ts';
import { type Passkeys, passkeyFold, passkeyUseEvents, passkeyUseFold } from '../../src/events/passkeys.ts';
import {
  evolve,
  noPayment,
  type Payment,
  type PaymentEvent,
  paymentEvents,
  readPaymentEvent,
} from '../../src/events/payment.ts';
import { type Books, type Entry, enter } from '../../src/events/postings.ts';
import { projectEvents, projectFold } from '../../src/events/project.ts';
import { projectionRequestEvents, projectionRequestFold } from '../../src/events/projection-requests.ts';
import {
  type Discrepancy,
  reconciliationEvents,
  reconciliationFold,
} from '../../src/events/reconciliation.ts';
import { readSeal, sealEvents } from '../../src/events/seals.ts';
import { type Session, sessionEvents, sessionFold } from '../../src/events/session.ts';
import { settlementEvents, settlementFold } from '../../src/events/settlement.ts';
import { sharedNumberEvents, sharedNumberFold } from '../../src/events/shared-number.ts';
import {
  quarantineFold,
  unmatchedEvents,
  unmatchedFold,
  unmatchedStream,
} from '../../src/events/unmatched.ts';
import { schemaVersion } from '../../src/events/upcast.ts';
import { type Account, userEvents, userFold } from '../../src/events/user.ts';
import { memoryKeyStore, startPersonalData } from '../support/personal-data.ts';

type Golden = { type: string; data: unknown; metadata: Metadata };

const folder = new URL('golden/', import.meta.url);
const json = (path: string): unknown => JSON.parse(readFileSync(new URL(path, folder), 'utf8'));
const golden = (version: number, type: string) => json(`v${version}/${type}.json`) as Golden;
const states = json('states.json') as Record<string, unknown>;

/** The state after the golden event of a file. */
async function stateAfter(version: number, file: string): Promise<unknown> {
  const [type = ''] = file.split('.');
  if (type === 'PasskeyUsed')
    return passkeyUseDecider.evolve(null, passkeyUseFold.read(golden(version, type)));
  if (type.startsWith('Passkey')) {
    const names = [...(type === 'PasskeyRegistered' ? [] : ['PasskeyRegistered']), file];
    return ['UserCreated', ...names]
      .map((name) => userFold.read(golden(version, name)))
      .reduce<Passkeys | null>(passkeyFold.evolve, null);
  }
  if (Object.hasOwn(userEvents, type)) {
    const begun = type === 'UserCreated' ? [] : ['UserCreated'];
    const events = [...begun, file].map((name) => userFold.read(golden(version, name)));
    return events.reduce<Account | null>(userFold.evolve, null);
  }
  if (Object.hasOwn(sessionEvents, type)) {
    const begun = type === 'SignInLinkIssued' || type === 'SignedIn' ? [] : ['SignedIn'];
    const events = [...begun, file].map((name) => sessionFold.read(golden(version, name)));
    return events.reduce<Session | null>(sessionFold.evolve, null);
  }
  if (Object.hasOwn(keyFingerprintEvents, type))
    return keyFingerprintDecider.evolve(null, keyFingerprintFold.read(golden(version, type)));
  if (Object.hasOwn(merchantEvents, type))
    return [...new Set(['CredentialIssued', type])]
      .map((name) => merchantFold.read(golden(version, name)))
      .reduce<readonly Credential[]>(merchantFold.evolve, []);
  if (Object.hasOwn(projectEvents, type))
    return projectFold.evolve(null, projectFold.read(golden(version, type)));
  if (Object.hasOwn(projectionRequestEvents, type))
    return projectionRequestFold.evolve(
      projectionRequestFold.initial,
      projectionRequestFold.read(golden(version, type)),
    );
  if (Object.hasOwn(reconciliationEvents, type)) {
    const types = [...new Set(['ReconciliationDifferenceFound', type])];
    const events = types.map((name) => reconciliationFold.read(golden(version, name)));
    return events.reduce<Discrepancy | null>(reconciliationFold.evolve, null);
  }
  if (Object.hasOwn(settlementEvents, type)) {
    const types = Object.keys(settlementEvents);
    const events = types.slice(0, types.indexOf(type) + 1);
    return events
      .map((name) => settlementFold.read(golden(version, name)))
      .reduce(settlementFold.evolve, settlementFold.initial);
  }
  if (Object.hasOwn(sharedNumberEvents, type))
    return sharedNumberFold.evolve(null, sharedNumberFold.read(golden(version, type)));
  if (type === 'GatewayResultUnmatched') {
    const { evidence, fingerprint: _, ...data } = quarantineFold.read(golden(version, type)).data;
    return { ...data, raw: await contentOf(evidence, { stream: unmatchedStream, field: 'evidence' }) };
  }
  if (type === 'FaultAcknowledged' || type === 'OlderLogAccepted')
    return readAcknowledgement(golden(version, type)).data;
  if (Object.hasOwn(sealEvents, type)) return readSeal(golden(version, file)).data;
  if (Object.hasOwn(unmatchedEvents, type) && !Object.hasOwn(paymentEvents, type))
    return unmatchedFold.evolve(unmatchedFold.initial, unmatchedFold.read(golden(version, type))).resolved;
  const events = [...before(type), file].map((name) => readPaymentEvent(golden(version, name)));
  return await inPlainText(events.reduce<Payment>(evolve, noPayment));
}

/** The golden events of version 2 are sealed under these keys; those of version 1 are in plain text. */
const keys = Buffer.concat(Array.from({ length: 20 }, (_, index) => Buffer.alloc(32, index + 1)));
const store = memoryKeyStore();
store.blocks.set('golden', keys);
const { open } = await startPersonalData(store);

async function contentOf<T>(held: Held<T>, place: SealedPlace): Promise<T> {
  const opened = await open(held, place);
  if (opened.kind !== 'open') throw new Error(opened.kind);
  return opened.value;
}

/** A payment's state as both versions have it: with personal data in plain text, and nothing about keys. */
async function inPlainText(state: Payment): Promise<unknown> {
  if (state.status === 'none') return state;
  const { access, personalData, results: opened, ...payment } = await openPayment(state, open);
  const { personal: _, fingerprint: __, ...request } = payment.request;
  const results = opened.map(({ personal: ___, ...result }) => result);
  const { erasedAt } = personalData;
  if (erasedAt !== null) return { ...payment, request, results, erasedAt };
  if (access.kind !== 'open') throw new Error(access.kind);
  return { ...payment, request, results };
}

/** What happened to the payment before a golden event: enough for it to mean something. */
function before(type: string): string[] {
  if (type === 'PaymentRequested') return [];
  if (type === 'PaymentMethodChosen') return ['PaymentRequested'];
  const chosen = ['PaymentRequested', 'PaymentMethodChosen'];
  if (type === 'ExceptionResolved' || type === 'AmountMismatchCredited')
    return [...chosen, 'AmountMismatchDetected'];
  if (type === 'PaymentReversed') return [...chosen, 'PaymentSucceeded', 'GatewayResultContradicted'];
  if (type === 'ApprovalGranted' || type === 'ApprovalRejected')
    return [...chosen, 'PaymentSucceeded', 'ApprovalRequested'];
  const paid = [...chosen, 'PaymentSucceeded'];
  const afterwards = ['GatewayResultIdentified', 'PaymentRefunded', 'ApprovalRequested'];
  if (afterwards.includes(type)) return paid;
  if (!Object.hasOwn(deliveryEvents, type)) return chosen;
  const isAskedAgain = type === 'CallbackRequested' || type === 'ReceiptEmailRequested';
  return isAskedAgain ? [...paid, type.replace('Requested', 'Abandoned')] : paid;
}

const versions = Array.from({ length: schemaVersion }, (_, index) => index + 1);

test('an unmatched result is erased by the same event, and stays resolved as it was', (t) => {
  const events = ['UnmatchedResultResolved', 'PersonalDataErased'].map((type) => golden(schemaVersion, type));
  const [resolved, erased] = [events, events.toReversed()].map((order) =>
    order.map(unmatchedFold.read).reduce(unmatchedFold.evolve, unmatchedFold.initial),
  );
  t.deepEqual(resolved, erased);
  t.like(resolved, { resolved: { resolution: 'settled' }, erasedAt: '2033-11-20T01:00:00.000Z' });
});

test('every event type has a golden file of the current version', (t) => {
  const files = readdirSync(new URL(`v${schemaVersion}/`, folder)).flatMap(
    (name) => name.split('.')[0] ?? [],
  );
  const types = Object.keys({
    ...paymentEvents,
    ...userEvents,
    ...passkeyUseEvents,
    ...projectEvents,
    ...keyFingerprintEvents,
    ...merchantEvents,
    ...projectionRequestEvents,
    ...unmatchedEvents,
    ...sharedNumberEvents,
    ...settlementEvents,
    ...sessionEvents,
    ...reconciliationEvents,
    ...sealEvents,
  });
  t.deepEqual(
    [...new Set(files)].toSorted(),
    [...types, 'FaultAcknowledged', 'GatewayResultUnmatched', 'OlderLogAccepted'].toSorted(),
  );
});

for (const version of versions) {
  for (const file of readdirSync(new URL(`v${version}/`, folder))) {
    const name = file.replace('.json', '');

    test(`v${version} ${name} is read, and folds into the same state as ever`, async (t) => {
      t.deepEqual(await stateAfter(version, name), states[name]);
    });

    test(`v${version} ${name} still has its hash`, (t) => {
      const { type, data, metadata } = golden(version, name);
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
  test(`history ${index + 1} of version 1 has the same state, deliveries and entries as ever`, async (t) => {
    const { events, state, ...journal } = JSON.parse(line) as StoredHistory;
    const past = events.map((event) => readPaymentEvent({ ...event, metadata: { schemaVersion: 1 } }));
    const folded = past.reduce<Payment>(evolve, noPayment);
    if (folded.status === 'none') return t.fail();
    const { request, ...payment } = (await inPlainText(folded)) as OpenPayment;
    const { emailReceipt, ...requested } = request;
    t.is(emailReceipt, request.payer.email !== '');
    t.deepEqual({ ...payment, request: requested }, state as object);
    t.deepEqual(asStored(entriesOf(past)), journal);
  });
}
