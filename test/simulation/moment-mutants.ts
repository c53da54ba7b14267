/** Mutants that show only at certain moments, or to an auditor. */
import type { Mutant } from './mutants.ts';

export const momentMutants: Readonly<Record<string, Omit<Mutant, 'name'>>> = {
  'interruption-unrecorded': {
    what: 'Nobody records an attempt whose process was killed before the answer',
    file: 'src/reactors/deliveries/attempt.ts',
    code: 'const unrecorded = current && findInterrupted(claimed, current);',
    becomes: 'const unrecorded = null;',
    seenBy: ['sent-unrecorded'],
    fault: 'crash-at',
    payments: 20,
    seeds: 20,
  },
  'question-endless': {
    what: 'A question to the registry that is never answered is never given up',
    file: 'src/clients/transaction-registry/registry.ts',
    code: 'const signal = runtime.timeout(timeoutMs);',
    becomes: 'const { signal } = new AbortController();',
    seenBy: ['slow-answer'],
    fault: 'registry-trouble',
    payments: 40,
    seeds: 20,
  },
  'export-unproven': {
    what: 'An export proves nothing that was sealed before its end',
    file: 'src/audit/export/export.ts',
    code: 'const untilMs = Date.parse(range.from) - disorderMs;',
    becomes: 'const untilMs = Date.parse(range.to) - disorderMs;',
    seenBy: ['export-wrong'],
    payments: 4,
    seeds: 5,
  },
  'one-clock-erases': {
    what: 'Personal data are erased for their age by the clock of PostgreSQL alone',
    file: 'src/personal-data/retention.ts',
    code: 'const aheadMs = Math.max(0, -(differenceMs() ?? 0));',
    becomes: 'const aheadMs = 0 * (differenceMs() ?? 0);',
    seenBy: ['erased-early'],
    fault: 'retention',
    payments: 5,
    seeds: 20,
  },
  'times-of-utc': {
    what: 'A time of the gateway that names no offset is read as UTC',
    file: 'src/common/malaysian-time.ts',
    code: "'', zone);",
    becomes: "'', zone ?? 'Z');",
    seenBy: ['collected-wrong'],
    fault: 'midnight',
    payments: 10,
    seeds: 10,
  },
};
