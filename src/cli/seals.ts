/** `ledger seals`: the public key and the seals so far, for an auditor to keep elsewhere. */
import { sealKeyOf } from '../audit/seals/key.ts';
import { allSeals, readSealOrNull } from '../audit/verify/seals.ts';
import type { LogSealed } from '../events/seals.ts';
import { toIsoWithOffset } from '../kernel/malaysian-time.ts';
import type { Command } from './command.ts';
import { asStaff } from './staff.ts';

export const seals: Command = {
  summary: 'the public key that seals of the log are checked with, and the seals so far',
  usage: '',
  options: {},
  run() {
    return asStaff(async (eventStore, { sealKey }) => {
      process.stdout.write(
        sealKey === ''
          ? 'There is no SEAL_KEY here, so its public key is not known.\n'
          : sealKeyOf(sealKey).publicKeyPem,
      );
      let count = 0;
      for await (const stored of allSeals(eventStore)) {
        process.stdout.write(`${String(stored.revision).padStart(6)}  ${sealText(readSealOrNull(stored))}\n`);
        count += 1;
      }
      return `${count} ${count === 1 ? 'seal' : 'seals'}.`;
    });
  },
};

function sealText(seal: LogSealed | null): string {
  if (!seal) return 'unreadable';
  const { at, count, position, runningHash } = seal;
  const events = count.toLocaleString('en').padStart(13);
  return `${toIsoWithOffset(at)} ${events} events  position ${position.commit}/${position.prepare}  ${runningHash}`;
}
