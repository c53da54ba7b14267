/**
 * What is being sent about payments: at times staff erase personal data at the same moment, and soon nothing of them may be
 * sent any more.
 */
import type { LogCheck } from '../checks/log.ts';
import { currentProcess } from '../engine/process.ts';
import type { Report } from '../violations.ts';

/** What was claimed before an erasure is sent within this time: it begins within 20 s, and its attempt ends within 40 s. */
const sentWithinMs = 60_000;
/** How long a receipt is drawn while staff erase what is sent. */
const longestDrawingMs = 2_000;

export type Sendings = ReturnType<typeof createSendings>;

export function createSendings({
  logCheck,
  report,
  erase,
  erasedAtMs,
}: {
  logCheck: LogCheck;
  report: Report;
  /** Staff erase the personal data of this payment now. */
  erase: (transactionId: string) => void;
  /** When they were told that it is erased, by the true time; undefined if they were not. */
  erasedAtMs: (transactionId: string) => number | undefined;
}) {
  let isErasing = false;
  const begin = (transactionId: string) => {
    // What is erased again is removed again.
    if (isErasing && erasedAtMs(transactionId) === undefined) erase(transactionId);
  };
  return {
    setErasing(next: boolean): void {
      isErasing = next;
    },

    /** A receipt is drawn for an email. */
    async draw(transactionId: string): Promise<void> {
      const process = currentProcess();
      begin(transactionId);
      if (isErasing && process) await process.runtime.sleep(process.random.integer(0, longestDrawingMs));
    },

    /** A receiver is told of a payment, with the name of the payer, `''` if there is none. */
    post(transactionId: string, change: number, { name, atMs }: { name: string; atMs: number }): void {
      begin(transactionId);
      const erasedMs = erasedAtMs(transactionId) ?? Number.POSITIVE_INFINITY;
      const calledMs = logCheck.payments.get(transactionId)?.calledAtMs.get(change);
      // What a later result says is erased later.
      const isOlder = calledMs !== undefined && calledMs < erasedMs;
      if (name !== '' && isOlder && atMs > erasedMs + sentWithinMs)
        report('erased-sent', transactionId, `Callback ${change} names the payer`);
    },
  };
}
