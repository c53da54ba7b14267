/** What health says once everything has healed and time has passed. */
import type { RunUntil, Simulation } from '../play-out.ts';
import { ask } from '../world/http.ts';

type End = {
  hosts: readonly string[];
  runUntil: RunUntil;
  hasFaults: () => boolean;
  /** Whether health has no reason to complain. */
  isWell: () => boolean;
};

/** Health has to tell of what is wrong at the end, and of nothing else. */
export async function checkHealth(
  { people, staffProcess, staff, scheduler, violations: { report } }: Simulation,
  { hosts, runUntil, hasFaults, isWell }: End,
): Promise<void> {
  let pending = 1 + hosts.length;
  staffProcess.enter(() => {
    void staff.look().then(({ projections }) => {
      pending -= 1;
      for (const { name, status, fault } of projections.filter((each) => each.status !== 'ok'))
        report('projection-behind', name, `It is ${status}${fault ? `: ${fault}` : ''}`);
    });
  });
  await runUntil(scheduler.nowMs() + 60_000, () => pending === hosts.length);
  people.enter(() => {
    for (const host of hosts)
      void ask(people, { host, path: '/api/v1/health' }).then((answer) => {
        pending -= 1;
        const status = answer?.status === 200 ? JSON.parse(answer.body).status : 'silent';
        if (status === 'ok' && hasFaults()) report('health-lies', 'health', 'It says ok');
        if (status !== 'ok' && isWell()) report('health-cries-wolf', host, `It is ${status}`);
      });
  });
  await runUntil(scheduler.nowMs() + 120_000, () => pending === 0);
}
