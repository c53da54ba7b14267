/** The key that seals of the log are signed with. */
import type { EnvironmentReader } from './environment.ts';

/** 32 bytes as 64 hexadecimal digits; `''` where it is not set, which is a fault of a process that seals. */
export function readSealKey(env: EnvironmentReader, seals: boolean): string {
  const key = seals
    ? env.required('SEAL_KEY', 'the log is sealed with it; make one with openssl rand -hex 32')
    : env.text('SEAL_KEY');
  if (key !== '' && !/^[0-9a-f]{64}$/i.test(key)) env.faults.push('SEAL_KEY must be 64 hexadecimal digits');
  return key;
}
