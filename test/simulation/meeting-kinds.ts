/** What meets at one payment: staff and a late result, or what is being sent and an erasure. */
import { type Kind, moment, second } from './fault-kinds.ts';

export const meetingKinds: readonly Kind[] = [
  {
    kind: 'late-results',
    share: 0.05,
    most: 2,
    make(random, _, activeMs) {
      const atMs = random.integer(activeMs / 4, activeMs);
      const act = () => ({
        kind: random.pick(['resolve', 'erase', 'erase', 'notes', 'send-again'] as const),
        atMs: atMs + random.integer(5, 50) * second,
        draw: random.integer(0, 999_999),
      });
      return [{ kind: 'late-results', atMs, forMs: 60 * second }, act(), act(), act()];
    },
  },
  {
    kind: 'erase-sending',
    share: 0.05,
    most: 2,
    // What a receiver refuses is sent again after the erasure.
    make(random, _, activeMs) {
      const at = { atMs: moment(random, activeMs), forMs: random.integer(5, 40) * second };
      const does = random.pick(['slow', 'refuses'] as const);
      return [
        { kind: 'erase-sending', ...at },
        ...[0, 1, 2, 3].map((merchant) => ({ kind: 'receiver', merchant, does, ...at }) as const),
      ];
    },
  },
];
