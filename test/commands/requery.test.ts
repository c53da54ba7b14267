// Decisions about an answer of the registry: given, when, then.
import test from 'ava';
import type { RecordRequeryAnswer } from '../../src/commands/requery.ts';
import type { PaymentEvent } from '../../src/events/payment.ts';
import { channels } from '../../src/events/payment-request.ts';
import type { RegistryAnswer, RegistryStatus, ReportedResult } from '../../src/events/payment-result.ts';
import {
  applied,
  chosen,
  contradicted,
  duplicated,
  mismatched,
  requested,
  result,
  resultAt,
  resultDecider,
  sen,
  succeeded,
} from '../support/payments.ts';
import { checkSpec, type Spec } from '../support/spec.ts';

const raw = { id: '77', eps_status: '0' };
/** A record names no order of ours. */
const told = (outcome: 'succeeded' | 'failed' | 'pending', over: Partial<ReportedResult> = {}) =>
  result(1, outcome, { sellerOrderNo: '', ...over });
const results = (...reported: ReportedResult[]): RegistryAnswer => ({
  status: (reported[0]?.outcome ?? 'not_found') as RegistryStatus,
  results: reported,
  raw,
});
const nothing = (status: 'attempted' | 'not_found'): RegistryAnswer => ({ status, results: [], raw });

function ask(answer: RegistryAnswer, over: Partial<RecordRequeryAnswer> = {}): RecordRequeryAnswer {
  return {
    type: 'RecordRequeryAnswer',
    at: resultAt,
    channel: 'generic',
    merchantCode: 'council',
    answer,
    ...over,
  };
}

const byRequery = (event: PaymentEvent) =>
  ({ ...event, data: { ...event.data, source: 'requery' } }) as PaymentEvent;
const answered = (status: RegistryStatus, at = resultAt): PaymentEvent => ({
  type: 'RequeryAnswered',
  data: { at, status, evidence: { plain: raw } },
});

const open = [chosen(1)];
const paid = [chosen(1), succeeded(result(1, 'succeeded'))];
const second = told('succeeded', { gatewayTransactionId: 'P2' });
const wrongAmount = told('succeeded', { amountSen: sen(1) });

type Case = { given: PaymentEvent[]; when: RegistryAnswer; expect: Spec<never, PaymentEvent>['expect'] };

const cases: Record<string, Case> = {
  'open: success': {
    given: open,
    when: results(told('succeeded')),
    expect: [byRequery(succeeded(told('succeeded')))],
  },
  'open: failed': {
    given: open,
    when: results(told('failed')),
    expect: [byRequery(applied(told('failed')))],
  },
  'open: pending': {
    given: open,
    when: results(told('pending')),
    expect: [byRequery(applied(told('pending')))],
  },
  'open: attempted': { given: open, when: nothing('attempted'), expect: [answered('attempted')] },
  'open: not found': { given: open, when: nothing('not_found'), expect: [answered('not_found')] },
  'no method was chosen here: a success all the same': {
    given: [],
    when: results(told('succeeded')),
    expect: [byRequery(succeeded(told('succeeded')))],
  },
  'open: another amount is in suspense': {
    given: open,
    when: results(wrongAmount),
    expect: [byRequery(mismatched(wrongAmount))],
  },
  'open: a wrong amount does not hide the right one': {
    given: open,
    when: results(wrongAmount, second),
    expect: [byRequery(mismatched(wrongAmount)), byRequery(succeeded(second))],
  },
  'open: two successes': {
    given: open,
    when: results(told('succeeded'), second),
    expect: [byRequery(succeeded(told('succeeded'))), byRequery(duplicated(second, 'P1'))],
  },
  'pending: pending': {
    given: [chosen(1), applied(result(1, 'pending'))],
    when: results(told('pending')),
    expect: [answered('pending')],
  },
  'failed: the money arrived after all': {
    given: [chosen(1), applied(result(1, 'failed'))],
    when: results(told('succeeded')),
    expect: [byRequery(succeeded(told('succeeded'), { late: true }))],
  },
  'failed: failed': {
    given: [chosen(1), applied(result(1, 'failed'))],
    when: results(told('failed')),
    expect: [answered('failed')],
  },
  'failed: the registry lags behind': {
    given: [chosen(1), applied(result(1, 'failed'))],
    when: results(told('pending')),
    expect: [answered('pending')],
  },
  'cancelled: the registry reports it as a failure': {
    given: [chosen(1), applied(result(1, 'cancelled'))],
    when: results(told('failed')),
    expect: [answered('failed')],
  },
  'paid: the same success': {
    given: paid,
    when: results(told('succeeded')),
    expect: [answered('succeeded')],
  },
  'paid: the registry lags behind': {
    given: paid,
    when: results(told('pending')),
    expect: [answered('pending')],
  },
  'paid: failed is a contradiction': {
    given: paid,
    when: results(told('failed')),
    expect: [byRequery(contradicted(told('failed'), 'succeeded'))],
  },
  'the same answer within a minute': {
    given: [...open, answered('attempted', '2026-11-20T01:04:00.001Z')],
    when: nothing('attempted'),
    expect: [],
  },
  'the same answer after a minute': {
    given: [...open, answered('attempted', '2026-11-20T01:04:00.000Z')],
    when: nothing('attempted'),
    expect: [answered('attempted')],
  },
  'another answer within a minute': {
    given: [...open, answered('not_found', '2026-11-20T01:04:59.000Z')],
    when: nothing('attempted'),
    expect: [answered('attempted')],
  },
};

for (const [title, { given, when, expect }] of Object.entries(cases)) {
  for (const channel of channels) {
    test(`${channel}, ${title}`, (t) => {
      checkSpec(t, resultDecider, {
        given: [requested(channel), ...given],
        when: ask(when, { channel }),
        expect,
      });
    });
  }
}

for (const [title, given, over] of [
  ['no payment', [], {}],
  ["another merchant's payment", [requested()], { merchantCode: 'museum' }],
  ["another channel's payment", [requested('landreg')], {}],
] as const) {
  test(`${title} takes no answer of any kind`, (t) => {
    for (const answer of [nothing('not_found'), results(told('succeeded'))])
      checkSpec(t, resultDecider, { given, when: ask(answer, over), expect: 'unmatched_result' });
  });
}
