/** The variables about personal data: the keys that protect them, and how long they are kept. */
import type { Period } from '@ledger/kernel/period.ts';
import type { EnvironmentReader } from './environment-reader.ts';

/** 32 bytes in base64. */
const keyForm = /^[A-Za-z0-9+/]{43}=$/;

/** Each in base64. `previous` are earlier ones that blocks of keys may still be encrypted under. */
export function readDataKeys(env: EnvironmentReader): { current: string; previous: readonly string[] } {
  const what = 'be 32 bytes in base64';
  const current = env.matching('DATA_KEY', keyForm, what, { required: true });
  const previous = env.list('DATA_KEY_PREVIOUS', keyForm, 'be a comma list of keys of 32 bytes in base64');
  return { current, previous };
}

const units = { y: 'years', m: 'months', d: 'days' } as const;

export function readRetention(env: EnvironmentReader): Period | null {
  const text = env.matching('RETENTION', /^[1-9]\d{0,3}[ymd]$/, 'be a time such as 7y, 18m or 90d');
  const unit = units[text.slice(-1) as keyof typeof units];
  return unit === undefined ? null : { count: Number(text.slice(0, -1)), unit };
}
