/**
 * What sessions announce with NOTIFY. One connection listens in place of all sessions, which are told from here: to ask
 * each of them what it has heard was a twentieth of what goes to the server.
 */
import { ask, type Backend, type Backends } from './postgres-backend.ts';
import { startMessage, text, type WireMessage, wireMessage } from './postgres-wire.ts';

export type Announcements = ReturnType<typeof createAnnouncements>;

/** What PostgreSQL says when a session listens. */
export const listened: readonly WireMessage[] = [
  { type: 'C', bytes: wireMessage('C', text('LISTEN')) },
  { type: 'Z', bytes: wireMessage('Z', Buffer.from('I')) },
];

export function createAnnouncements(backends: Backends, database: string) {
  const channels = new Set<string>();
  let backend: Backend | null = null;

  return {
    /** What is announced on the channel from now on is heard. */
    async listen(channel: string): Promise<void> {
      if (channels.has(channel)) return;
      channels.add(channel);
      backend ??= (await backends.take(startMessage(['user', 'ledger', 'database', database]), '')).backend;
      await ask(backend, [`listen "${channel}"`]);
    },

    /** What was announced since the last time: the server sends it before the answer to the next message. */
    async fetch(): Promise<{ channel: string; bytes: Buffer }[]> {
      if (!backend) return [];
      const said = await ask(backend, ['']);
      return said.flatMap(({ type, bytes }) =>
        // Its length and the process that announced it come before the channel.
        type === 'A' ? [{ channel: bytes.toString('utf8', 9, bytes.indexOf(0, 9)), bytes }] : [],
      );
    },

    async close(): Promise<void> {
      if (backend) await backends.giveBack(backend);
    },
  };
}
