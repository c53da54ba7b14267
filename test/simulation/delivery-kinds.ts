/** Staff who have deliveries sent again, at bad moments. */
import type { Random } from './engine/random.ts';
import { disturbed, type Kind, minute, second } from './fault-kinds.ts';
import type { Fault } from './plan.ts';

export const sendAgainKind: Kind = {
  kind: 'send-again',
  share: 0.06,
  most: 3,
  make: (random, names, activeMs) => {
    const atMs = random.integer(activeMs / 2, activeMs + random.pick([0, 0, 20]) * minute);
    const first = disturbed('send-again', random, names, atMs);
    const more = random.chance(0.5) ? underWay(random, atMs) : heldUp(random, Math.min(atMs, activeMs));
    return [...first, ...more];
  },
};

const receivers = (does: 'slow' | 'refuses', atMs: number, forMs: number): Fault[] =>
  [0, 1, 2, 3].map((merchant) => ({ kind: 'receiver', merchant, does, atMs, forMs }));

const sendAgain = (random: Random, atMs: number): Fault => ({
  kind: 'send-again',
  atMs,
  draw: random.integer(0, 999_999),
});

/** Staff ask once more while what they have asked for is on its way. */
const underWay = (random: Random, atMs: number): Fault[] => [
  ...receivers('slow', atMs, 20 * second),
  sendAgain(random, atMs + random.integer(1, 10) * second),
];

/**
 * A process cannot record what it has sent, and then stands still. Another sends it after the lease has ended. Then staff ask
 * for it once more, and the first process goes on before their receiver takes it.
 */
function heldUp(random: Random, atMs: number): Fault[] {
  const [node, store] = ['reactors-2', 'eventstore-1'];
  const cutMs = atMs + random.integer(3, 10) * second;
  const againMs = atMs + random.integer(80, 100) * second;
  return [
    ...receivers('slow', atMs, 40 * second),
    { kind: 'cut', from: node, to: store, bothWays: true, atMs: cutMs, forMs: 25 * second },
    { kind: 'pause', node, atMs: cutMs + random.integer(8, 12) * second, forMs: 90 * second },
    ...receivers('refuses', againMs - second, 60 * second),
    sendAgain(random, againMs),
  ];
}
