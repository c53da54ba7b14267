/** The ledger that is attacked, on a file, sealed and exported; and what the attacks have in common. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { keysPerBlock, wrappingKeys } from '@ledger/personal-data/key-store.ts';
import { createPersonalData } from '@ledger/personal-data/personal-data.ts';
import { createPostgresKeyStore, destroyedChannel } from '@ledger/personal-data/postgres-key-store.ts';
import { listenForNotifications } from '@ledger/postgres/notifications.ts';
import { forAll } from '@ledger/transparency-log/key.ts';
import type { Witnesses } from '@ledger/transparency-log/note.ts';
import type { ExecutionContext } from 'ava';
import { beginExport, readExportRequest } from '../../../src/audit/export/export.ts';
import { checksumOf, firstChecksum } from '../../../src/audit/export/lines.ts';
import { startSealer } from '../../../src/audit/seals/sealer.ts';
import { sealingRefused } from '../../../src/audit/seals/sealing-status.ts';
import { verifyFile } from '../../../src/audit/verify/export-file.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { sealsStream } from '../../../src/events/seals.ts';
import { madeWithKeys } from '../../../src/projections/payments/payers.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { temporaryFolder, until } from '../../embedded/helpers.ts';
import { caughtUp, log, run } from '../../projections/helpers.ts';
import { createDatabase } from '../../support/postgres.ts';
import { wholeFile } from '../../support/whole-file.ts';
import { freshSealing } from '../fresh-sealing.ts';
import { fill, filled, key, openStore, paymentId, sealAll, sealing, tampered } from '../ledger.ts';
import { changeEvent, forge, remove } from '../tamper.ts';

export const folder = await temporaryFolder(wholeFile);
export const file = join(folder, 'eventstore.db');
/** What the sealer keeps outside the event store. */
export const place = sealing((await createDatabase()).url, folder);
export const { db } = place;
wholeFile.teardown(() => db.destroy());
const stores = { db, databaseUrl: place.databaseUrl, log, runtime: systemRuntime };
export const personalData = createPersonalData({
  ...stores,
  store: createPostgresKeyStore({
    ...stores,
    madeWithKeys,
    wrapping: wrappingKeys(Buffer.alloc(32, 'k').toString('base64'), []),
  }),
  listen: (onNotification) =>
    listenForNotifications({ ...stores, channel: destroyedChannel, onNotification }),
  ahead: keysPerBlock,
});
await personalData.start();
wholeFile.teardown(() => personalData.stop());
/** The export of the ledger before anything was changed. */
export const exported = await fillLedger();
export const { signal } = new AbortController();

async function fillLedger(): Promise<string> {
  const { eventStore, close } = await openStore(file);
  await fill(eventStore, personalData);
  await sealAll(eventStore, place, filled);
  const projection = run(
    wholeFile,
    payments,
    { eventStore },
    { db, url: place.databaseUrl },
    { personalData },
  );
  await caughtUp([payments], { eventStore }, { db });
  const text = await exportOf(eventStore);
  await projection.stop();
  await close();
  return text;
}

export async function exportOf(
  eventStore: EventStore,
  fields: { from?: string; to?: string; opened?: string } = {},
): Promise<string> {
  const asked = readExportRequest({ from: '2026-11-20', to: '2026-11-20', ...fields }, null);
  const { pieces } = await beginExport(asked, { eventStore, db, personalData, runtime: systemRuntime });
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

export async function verified(
  t: ExecutionContext,
  content: string,
  trusted = [forAll(key.publicKey)],
  witnesses: Witnesses | null = null,
) {
  const path = join(await temporaryFolder(t), 'export.jsonl');
  await writeFile(path, content);
  return await verifyFile(path, trusted, witnesses);
}

/** The lines again, with checksums that fit, as whoever changes a file can make them. */
export function relined(
  content: string,
  change: (lines: Record<string, unknown>[]) => Record<string, unknown>[],
): string {
  const lines = content
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  let checksum = firstChecksum;
  const written = change(lines).map(({ line: _, checksum: __, ...rest }, index) => {
    const text = JSON.stringify({ line: index + 1, ...rest }).slice(0, -1);
    checksum = checksumOf(checksum, text);
    return `${text},"checksum":"${checksum}"}\n`;
  });
  return written.join('');
}

export const stream = paymentStream(paymentId(4));
const change = (edit: (data: Record<string, unknown>) => void) => (sqlite: DatabaseSync) => {
  let previousHash: string | undefined;
  for (const revision of [0, 1, 2, 3])
    changeEvent(sqlite, { stream, revision }, (message) => {
      const forged = forge(message, revision === 0 ? edit : () => {}, previousHash);
      previousHash = forged.hash;
      return forged.message;
    });
};
export const raised = change((data) => Object.assign(data, { amountSen: 1_205_000 }));

/** Starts a sealer on what it keeps; resolves to why it refuses. */
export async function refusalOf(
  t: ExecutionContext,
  eventStore: EventStore,
  signer = key,
  previous: typeof key | null = null,
  own = sealing(place.databaseUrl, folder),
): Promise<string | null> {
  t.teardown(() => own.db.destroy());
  await own.kept.createTable();
  await own.kept.refuse(null);
  const keys = () => ({ current: signer, previous });
  const sealer = startSealer({ ...own, eventStore, keys, runtime: systemRuntime, log });
  const reason = await until(async () => (await sealingRefused(own.db)) ?? false);
  await sealer.stop();
  return reason || null;
}

/** The forged log, sealed anew with the genuine key. */
export async function withStolenKey(t: ExecutionContext, from = file) {
  const { eventStore } = await tampered(t, from, (sqlite) => {
    raised(sqlite);
    remove(sealsStream)(sqlite);
  });
  const elsewhere = await freshSealing(t);
  await sealAll(eventStore, elsewhere, filled);
  return eventStore;
}
