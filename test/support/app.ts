/** The HTTP role on real parts: a port of its own, and the embedded event store. */
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { connectEventStore } from '@ledger/event-store/client.ts';
import type { EventStore, RecordedEvent } from '@ledger/event-store/event-store.ts';
import { createHeadCache } from '@ledger/event-store/head-cache.ts';
import { createLog } from '@ledger/kernel/log.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import type { Mail, MailOutcome } from '@ledger/outbound/mailer.ts';
import { createOutbound } from '@ledger/outbound/post.ts';
import { sealedValuesOf } from '@ledger/personal-data/sealed.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { pino } from 'pino';
import { createCredentials } from '../../src/commands/credentials.ts';
import { createExecute } from '../../src/commands/execute.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import { createRecordAnswer } from '../../src/commands/record-answer.ts';
import { agencyPageOf } from '../../src/config/agency-page.ts';
import type { Merchant } from '../../src/config/merchants.ts';
import { loadPaymentMethods } from '../../src/config/payment-methods.ts';
import { type PaymentEvent, paymentStream, readPaymentEvent } from '../../src/events/payment.ts';
import { quarantineFold } from '../../src/events/unmatched.ts';
import { createApp } from '../../src/http/app.ts';
import { type ConsoleRoute, consoleRoutes } from '../../src/http/console/routes.ts';
import { createLimitedServer } from '../../src/http/server/connection-limits.ts';
import type { Dependencies } from '../../src/http/server/dependencies.ts';
import { createLook, type Look } from '../../src/monitoring/health.ts';
import { createErase } from '../../src/personal-data/erase.ts';
import { createAnswerCounts } from '../../src/to-do/requery-queue.ts';
import { documents } from './documents.ts';
import { startServer } from './event-store.ts';
import { sen } from './payments.ts';
import { personalData } from './personal-data.ts';
import { quarantined } from './quarantine.ts';
import { readOnce } from './read-once.ts';
import { testRuntime } from './runtime.ts';

export const gatewaySecret = 'a gateway secret of the tests';
export const transactionIdKey = 'a key of the tests';
export const linkKeys = { current: 'a link key of the tests', others: [], original: transactionIdKey };
export const apiKey = 'a-key-of-the-tests';
export const landregAccessKey = 'a-key-of-the-land-registry';

export type TestApp = {
  url: string;
  eventStore: EventStore;
  /** The payment's events as the program reads them, with personal data in plain text. */
  events(transactionId: string): Promise<PaymentEvent[]>;
  /** The last of the results that no payment took, with the fields as received. */
  lastUnmatched(): Promise<Record<string, unknown> | undefined>;
  /** What health and readiness are made from. */
  look(): Promise<Look>;
  /** Lines of the log, parsed. */
  logged: Record<string, unknown>[];
  /** Emails that the console sent. */
  mails: Mail[];
  /** Every page and action of the console that asks who is there. */
  consoleRoutes: readonly ConsoleRoute[];
  close(): Promise<void>;
};

const methods = loadPaymentMethods(
  fileURLToPath(new URL('../../config/payment-methods.yaml', import.meta.url)),
);

/** Two merchants, of which the second names its redirect hosts and has a charge of its own, and two land offices. */
export const merchants: readonly Merchant[] = [
  {
    code: 'council',
    name: 'Example City Council',
    id: 7,
    apiKeys: [apiKey],
    branchCode: '',
    webhookSecrets: [],
    callbackFormat: 'json',
    toldOf: [],
    takesParts: false,
    redirectHosts: null,
    charges: {},
    page: agencyPageOf(
      {
        names: { ms: 'Majlis Bandaraya Contoh' },
        contact: {
          phone: '03-8000-1234',
          email: 'help@council.example',
          url: 'https://council.example/{lang}',
        },
      },
      'data:image/png;base64,iVBORw0KGgo=',
    ),
  },
  {
    code: 'museum',
    branchCode: '',
    name: 'Museum <of> "Ships" & Sails',
    id: 8,
    // printf %s "$KEY" | sha256sum
    apiKeys: ['older-key', 'sha256:d79c9f2c5af9e392600576551946bc8abadc0eb310debc7a0f54a876cf2cfd83'],
    webhookSecrets: [],
    callbackFormat: 'json',
    toldOf: ['reversed', 'refunded', 'partlyPaid'],
    takesParts: true,
    redirectHosts: ['museum.example'],
    charges: { cc: sen(150) },
    page: agencyPageOf({}),
  },
  ...[
    { code: 'state-land', name: 'State Land Office', id: 10, branchCode: '00' },
    { code: 'district-land', name: 'District Land Office', id: 11, branchCode: '01' },
  ].map((agency) => ({
    ...agency,
    apiKeys: [],
    webhookSecrets: [],
    callbackFormat: 'json' as const,
    toldOf: [],
    takesParts: false,
    redirectHosts: null,
    charges: {},
    page: agencyPageOf({}),
  })),
];

/** As the configuration holds them. */
export const byCode = (all: readonly Merchant[]): Map<string, Merchant> =>
  new Map(all.map((merchant) => [merchant.code, merchant]));

/** What a test changes of the parts that the app is made of. */
export type Changes = {
  config?: Partial<Omit<Dependencies['config'], 'sandbox'>> & { sandbox?: { enabled: boolean } };
  findPayment?: Dependencies['findPayment'];
  findByReceiptNo?: Dependencies['findByReceiptNo'];
  latestPayments?: Dependencies['latestPayments'];
  findOfMerchant?: Dependencies['findOfMerchant'];
  eventStore?: Partial<Dependencies['eventStore']>;
  registry?: Dependencies['registry'];
  /** Further parts. */
  content?: Partial<Dependencies>;
  console?: Partial<Dependencies>;
  clock?: () => Date;
  /** Of the clock that never jumps. */
  monotonicMs?: () => number;
};

async function openEvent(stored: RecordedEvent): Promise<PaymentEvent> {
  const { type, data } = readPaymentEvent(stored);
  const opened = await Promise.all(
    sealedValuesOf(data).map(async ({ field, value }) => {
      const result = await personalData.open(value, { stream: stored.streamName, field });
      return [field, result.kind === 'open' ? { plain: result.value } : value];
    }),
  );
  return { type, data: { ...data, ...Object.fromEntries(opened) } } as PaymentEvent;
}

const noRegistry = () => Promise.reject(new Error('no registry'));

/** Starts the app. Only the first in a process may be the one that appends: pass `beside` to share its store. */
export async function startApp(
  changes: Changes = {},
  beside?: Pick<TestApp, 'eventStore'>,
): Promise<TestApp> {
  const store = beside ? null : await startServer();
  const eventStore =
    beside?.eventStore ??
    readOnce(
      connectEventStore({
        url: store?.url ?? '',
        log: pino({ level: 'silent' }),
        runtime: systemRuntime,
        // It is in this process, which may be busy for seconds on a slow machine.
        callDeadlineMs: 60_000,
        giveUpAfterMs: 120_000,
      }),
    );
  const logged: Record<string, unknown>[] = [];
  const log = createLog('info', 'http', { write: (line: string) => void logged.push(JSON.parse(line)) });

  let handle: RequestListener = () => undefined;
  const server = createLimitedServer((request, response) => handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const runtime = testRuntime({
    ...(changes.clock && { now: changes.clock }),
    ...(changes.monotonicMs && { monotonicMs: changes.monotonicMs }),
  });
  const heads = createHeadCache(runtime);
  const parts = heads.watch({ ...eventStore, ...changes.eventStore });
  const mails: Mail[] = [];
  const send = async (mail: Mail): Promise<MailOutcome> => {
    mails.push(mail);
    return { kind: 'sent', messageId: mail.id };
  };
  // Nothing listens there: it is as if Postgres were down.
  const db = connectPostgres({ url: 'postgres://127.0.0.1:9/nowhere', log });
  const execute = createExecute({ eventStore: parts, decider: paymentDecider, seal: personalData.seal });
  const dependencies: Dependencies = {
    postTest: createOutbound({ allowHosts: ['127.0.0.1'], httpsOnly: false, runtime, timeoutMs: 2_000 }),
    documents,
    fetchOwn: fetch,
    config: {
      production: false,
      environment: 'test',
      baseUrl: url,
      merchants: byCode(merchants),
      methods,
      footer: { help: '', privacy: 'https://council.example/{lang}/privacy?a=1&b', terms: '' },
      transactionIdKey,
      linkKeys,
      maxAmountSen: sen(100_000_000),
      approvalAboveSen: null,
      passkeysRequired: false,
      gateway: {
        url: 'https://gateway.example/pay',
        secret: gatewaySecret,
        otherSecrets: [],
        labelledFrom: null,
        acceptUnsigned: false,
      },
      apiKeys: [],
      landregAccessKeys: [landregAccessKey],
      sandbox: { enabled: false },
      rateLimits: { failuresPerMinute: 1e6, callsPerSecond: 1e6, pagesPerMinute: 1e6 },
      trustedProxies: 0,
      ...changes.config,
    } as Dependencies['config'],
    credentials: createCredentials({
      transactionIdKey,
      eventStore: parts,
      openSealed: personalData.open,
      runtime,
    }),
    execute,
    recordAnswer: createRecordAnswer({ counts: createAnswerCounts(changes.console?.db ?? db), execute }),
    personalData,
    eventStore: parts,
    heads,
    findPayment: changes.findPayment ?? (async () => null),
    findOfMerchant: changes.findOfMerchant ?? (async () => ({ rows: [], nextAfter: null })),
    latestPayments: changes.latestPayments ?? (async () => []),
    findByReceiptNo: changes.findByReceiptNo ?? (async () => []),
    registry: changes.registry ?? { ask: noRegistry, askByTransaksiId: noRegistry },
    users: { list: async () => [], has: async () => true, find: async () => null },
    projects: { list: async () => [], has: async () => true, find: async () => null },
    projections: [],
    projectionStatus: async () => [],
    sealingRefused: async () => null,
    isReadOnly: async () => false,
    clockDifferenceMs: () => 0,
    version: '0.0.0',
    db,
    mailer: { send },
    // In the memory of the test, as its keys are; nothing interrupts it.
    erase: createErase({
      store: personalData.store,
      eventStore: parts,
      onErased: async () => true,
      runtime: testRuntime(changes.clock && { now: changes.clock }),
    }),
    closing: new AbortController().signal,
    log,
    runtime,
    ...changes.content,
    ...changes.console,
  };
  handle = (await createApp(dependencies)).callback();

  return {
    url,
    eventStore,
    logged,
    mails,
    consoleRoutes: consoleRoutes(),
    look: createLook(dependencies),
    events: async (transactionId) =>
      await Promise.all((await eventStore.load(paymentStream(transactionId))).map(openEvent)),
    async lastUnmatched() {
      const stored = (await quarantined(eventStore)).at(-1);
      if (!stored) return undefined;
      const { evidence, ...data } = quarantineFold.read(stored).data;
      const opened = await personalData.open(evidence, { stream: stored.streamName, field: 'evidence' });
      return { ...data, raw: opened.kind === 'open' ? opened.value : opened.kind };
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await db.destroy();
      if (!store) return;
      await eventStore.close();
      await store.close();
    },
  };
}

/** Another app on the same store, and the streams that something is appended to through it. */
export async function startWatched(app: TestApp, changes: Changes = {}) {
  const appended: string[] = [];
  const append: EventStore['append'] = (streamName, ...rest) => {
    appended.push(streamName);
    return app.eventStore.append(streamName, ...rest);
  };
  return { appended, watched: await startApp({ ...changes, eventStore: { append } }, app) };
}
