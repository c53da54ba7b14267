/** What the tests of payments in the console look for. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { sessionStream } from '../../../src/events/session.ts';
import type { Member } from '../../support/console.ts';

/** The personal data in a payment of the tests. */
export const personal = [
  'Aminah',
  'AMINAH',
  'aminah@example.my',
  '900101145678',
  '0123456789',
  'Jalan Contoh',
  'Second half of 2026',
];
/** A text that would run as a script where it is not escaped. */
export const poison = '<img src=x onerror=alert(1)>&"\'';
/** The payments that a list has, by their links. */
export const listedIn = (html: string) =>
  Array.from(html.matchAll(/<th scope="row"><a href="\/console\/payments\/(\w{26})"/g), ([, id]) => id);
/** The accesses to personal data that the member’s session has recorded. */
export const accessesOf = async (app: { eventStore: EventStore }, member: Member) =>
  (await app.eventStore.load(sessionStream(sessionOf(member)))).filter(
    ({ type }) => type === 'PersonalDataViewed',
  );
export const sessionOf = ({ cookie }: Member) => cookie.split('=')[1]?.split('.')[0] ?? '';
