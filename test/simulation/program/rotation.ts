/** Replaces a key of the whole installation as content/docs tells operators to, in steps, one process after the other. */
import type { History } from '../engine/history.ts';
import { createRandom } from '../engine/random.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import type { Fault } from '../plan.ts';
import type { Report } from '../violations.ts';
import type { KeyCommands } from '../world/key-commands.ts';
import type { Links } from '../world/links.ts';
import { firstKeys, type KeyName, type Keys, keyOf } from './keys.ts';
import type { Nodes } from './nodes.ts';

export type Rotation = Extract<Fault, { kind: 'rotate' }>;
export type Rotations = ReturnType<typeof createRotations>;

/** How often it is looked whether the new key seals. */
const lookMs = 60_000;
const mostLooks = 120;

/** Somebody who replaces two keys takes one after the other. */
export function createRotations({
  nodes,
  scheduler,
  links,
  commands,
  staff,
  report,
  history,
}: {
  nodes: Nodes;
  scheduler: Scheduler;
  links: Links;
  commands: KeyCommands;
  staff: { setKeys(keys: Keys): void };
  report: Report;
  history: History;
}) {
  const numbers: Record<KeyName, number> = { link: 1, seal: 1, data: 1 };
  const keysOf = new Map<string, Keys>(nodes.names.map((name) => [name, firstKeys]));
  let staffKeys = firstKeys;
  let turn: Promise<void> = Promise.resolve();
  let open = 0;

  const concerned = (key: KeyName) =>
    nodes.names.filter(
      (name) => key === 'data' || (nodes.roleOf(name) === 'projections') === (key === 'seal'),
    );

  function give(name: string, key: KeyName, list: readonly string[]): void {
    const keys = { ...(keysOf.get(name) ?? firstKeys), [key]: list };
    keysOf.set(name, keys);
    nodes.setKeys(name, keys);
  }

  function giveStaff(key: KeyName, list: readonly string[]): void {
    staffKeys = { ...staffKeys, [key]: list };
    staff.setKeys(staffKeys);
  }

  /** Each process gets the list; the next one when it runs again. */
  async function roll({ key, gapMs }: Rotation, list: readonly string[], isReloaded: boolean): Promise<void> {
    history.tell(`operators: every process gets ${list.length} ${key} keys`);
    for (const name of concerned(key)) {
      give(name, key, list);
      if (isReloaded) nodes.reload(name);
      else await nodes.restart(name);
      await scheduler.sleep(gapMs);
      if (key === 'link') await links.openSome();
    }
    if (key === 'data') giveStaff(key, list);
  }

  async function replaceLink(rotation: Rotation, old: string, next: string): Promise<void> {
    if (rotation.isLost) return await replaceLeaked(rotation, next);
    await roll(rotation, [old, next], false);
    await roll(rotation, [next, old], false);
  }

  /** Nobody may use the old one any longer. */
  async function replaceLeaked({ key, gapMs }: Rotation, next: string): Promise<void> {
    history.tell(`operators: the ${key} key has leaked`);
    const names = concerned(key);
    const starts = await Promise.all(names.map((name) => nodes.stop(name)));
    for (const name of names) give(name, key, [next]);
    await commands.replaceLinkKey(next);
    links.revoke();
    for (const start of starts) start();
    await scheduler.sleep(gapMs);
    await links.openSome();
  }

  async function replaceSeal(rotation: Rotation, old: string, next: string): Promise<void> {
    const isReloaded = rotation.draw % 2 === 0;
    await roll(rotation, rotation.isLost ? [next] : [next, old], isReloaded);
    if (rotation.isLost) return await commands.replaceSealKey(old, next);
    if (!rotation.dropsOld) return;
    for (let looks = 0; looks < mostLooks; looks += 1) {
      await scheduler.sleep(lookMs);
      if (await commands.hasSealed(next)) return await roll(rotation, [next], isReloaded);
    }
    report('rotation-stuck', 'seal', 'The new key has sealed nothing');
  }

  async function replaceData(rotation: Rotation, old: string, next: string): Promise<void> {
    await roll(rotation, [old, next], false);
    await roll(rotation, [next, old], false);
    const isWhole = await commands.rewrap(staffKeys, createRandom(`rewrap ${rotation.draw}`));
    if (!isWhole) report('rotation-stuck', 'data', 'Keys are left under the data key before');
    else if (rotation.dropsOld) await roll(rotation, [next], false);
  }

  const replace = { link: replaceLink, seal: replaceSeal, data: replaceData } as const;

  return {
    /** Begins when those before it have ended. */
    begin(rotation: Rotation): void {
      open += 1;
      turn = turn.then(async () => {
        const { key } = rotation;
        const [old, next] = [keyOf(key, numbers[key]), keyOf(key, numbers[key] + 1)];
        numbers[key] += 1;
        await replace[key](rotation, old, next);
        history.tell(`operators: the ${key} key is replaced`);
        open -= 1;
      });
    },
    /** How many have not ended. */
    open: () => open,
    /** Every data key that there ever was. */
    allDataKeys: (): readonly string[] =>
      Array.from({ length: numbers.data }, (_, index) => keyOf('data', numbers.data - index)),
  };
}
