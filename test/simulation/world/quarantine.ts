/** Staff who resolve results in quarantine by what was received, as the page of such a result does. */
import { readGatewayResult } from '../../../src/clients/gateway/read-result.ts';
import { Refused } from '../../../src/commands/decider.ts';
import { createExecute } from '../../../src/commands/execute.ts';
import { loadUnmatched, unmatchedDecider } from '../../../src/commands/unmatched.ts';
import type { Cause } from '../../../src/events/envelope.ts';
import { resolutionStream, unmatchedResolutions } from '../../../src/events/unmatched.ts';
import type { RoleDependencies } from '../../../src/roles/stores.ts';
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { Random } from '../engine/random.ts';

export function createQuarantine({
  logCheck,
  history,
  causeOf,
  stores: { eventStore, personalData, runtime },
}: {
  logCheck: LogCheck;
  history: History;
  causeOf: (actor: string) => Cause;
  stores: Pick<RoleDependencies, 'eventStore' | 'personalData' | 'runtime'>;
}) {
  const execute = createExecute({ eventStore, decider: unmatchedDecider });

  async function resolve(id: string, by: string, random: Random): Promise<void> {
    const resolution = random.pick(unmatchedResolutions);
    try {
      const loaded = await loadUnmatched(id, eventStore);
      if (!loaded) throw new Error('It is not there');
      const { evidence, head, revision, stream } = loaded;
      const opened = await personalData.open(evidence, { stream, field: 'evidence' });
      const reported = opened.kind === 'open' ? readGatewayResult(opened.value) : null;
      // Only who sees what was received can find out where the money is.
      if (!reported) return history.tell(`${by}: ${id} is ${opened.kind}`);
      await runtime.sleep(random.integer(0, 5_000));
      const note = `As the gateway says of ${reported.result.gatewayTransactionId}`;
      const at = runtime.now().toISOString();
      const command = { type: 'ResolveUnmatchedResult', at, revision, resolution, note } as const;
      await execute(resolutionStream(id), command, causeOf(by), { from: head });
      history.tell(`${by}: ${id} is ${resolution}`);
    } catch (error) {
      const told = error instanceof Refused ? error.code : String(error).slice(0, 200);
      history.tell(`${by}: ${resolution} of ${id} fails: ${told}`);
    }
  }

  return {
    /** Resolves half of the results that wait; at times two members of staff do so at once. */
    async resolveSome(random: Random): Promise<void> {
      logCheck.look();
      for (const [id, { handled }] of logCheck.quarantine.results) {
        if (handled.resolved || random.chance(0.5)) continue;
        const actors = random.chance(0.3) ? ['staff:one', 'staff:another'] : ['staff:one'];
        await Promise.all(actors.map((by) => resolve(id, by, random)));
      }
    },
  };
}
