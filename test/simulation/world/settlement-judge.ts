/** What staff were told of the charges of a payout, compared with what the books and other payouts had meanwhile. */
import { createHash } from 'node:crypto';
import type { LogCheck } from '../checks/log.ts';
import type { Report } from '../violations.ts';
import type { Bank } from './bank.ts';
import type { createPayouts, Settlement, SettlementFile } from './payouts.ts';

type Row = SettlementFile['rows'][number];

export function createSettlementJudge({
  bank,
  logCheck,
  report,
  servesOldState,
  payouts,
}: {
  bank: Bank;
  logCheck: LogCheck;
  report: Report;
  servesOldState: () => boolean;
  payouts: Pick<ReturnType<typeof createPayouts>, 'all'>;
}) {
  /** Compares which charges are named as missing with what the books had before the import and after it. */
  function createJudge({ rows }: SettlementFile) {
    const isDoubtful = servesOldState();
    const before = rows.map((row) => timesBooked(row) - timesWithdrawn(row));
    return (reference: string, named: readonly number[]) => {
      if (isDoubtful || servesOldState()) return;
      const judged = rows.map((row, index) => ({
        ...row,
        isNamed: named.includes(index + 2),
        had: before[index] ?? 0,
      }));
      const alike = Map.groupBy(
        judged,
        ({ amountSen, transactionId }) => `${amountSen} sen of ${transactionId}`,
      );
      for (const [what, charges] of alike) {
        const [first] = charges;
        if (!first || first.transactionId === '' || isOdd(first.transactionId)) continue;
        const found = charges.filter(({ isNamed }) => !isNamed);
        // Which of them is missing, the gateway's numbers say. A row with such a number alone may always be.
        const missing = charges.filter(({ isNamed, namesPayment }) => isNamed && namesPayment);
        if (found.length > timesBooked(first))
          report('settlement-misjudged', reference, `${what} counts as booked, and is not`);
        if (missing.length > Math.max(0, charges.length - first.had))
          report('settlement-misjudged', reference, `${what} counts as missing, and was booked before`);
      }
    };
  }

  /** Compares which charges are named as paid out before with what other payouts in effect had before the import and after it. */
  function createRepeatJudge({ reference }: Settlement, { rows }: SettlementFile) {
    const isDoubtful = servesOldState();
    const before = paidOutBeside(reference);
    return (repeated: readonly number[]) => {
      if (isDoubtful || servesOldState()) return;
      const after = paidOutBeside(reference);
      for (const [index, { chargeId, transactionId }] of rows.entries()) {
        if (!before.has(chargeId) || !after.has(chargeId) || isOdd(transactionId)) continue;
        if (!repeated.includes(index + 2))
          report('settlement-misjudged', reference, `${chargeId} counts as new, and another payout has it`);
      }
    };
  }

  /** The ids of the charges that are named so in other payouts that the log has. */
  function paidOutBeside(reference: string): ReadonlySet<string> {
    logCheck.look();
    const files = payouts.all().flatMap((other) => {
      const { recorded, reversed } = logCheck.settlements.find(other);
      if (other.reference === reference || !recorded || reversed) return [];
      return other.files.filter((file) =>
        [file, respelled(file, other.reference)].some((each) => hashOf(each) === recorded.file.sha256),
      );
    });
    return new Set(files.flatMap(({ rows }) => rows.flatMap(({ chargeId }) => chargeId || [])));
  }

  function timesBooked({ amountSen, transactionId }: Row): number {
    logCheck.look();
    const debits = logCheck.payments.get(transactionId)?.debitsSen ?? [];
    return debits.filter((sen) => sen === BigInt(amountSen)).length;
  }

  /** Such a charge counts as missing, unless another of the same amount is still in suspense. */
  function timesWithdrawn({ amountSen, transactionId }: Row): number {
    const withdrawn = logCheck.payments.get(transactionId)?.withdrawnSen ?? [];
    return withdrawn.filter((sen) => sen === BigInt(amountSen)).length;
  }

  /** Of a stream that nobody can read, or with a number that another payment has, the journal knows less than we do. */
  function isOdd(transactionId: string): boolean {
    const ids = bank.chargesOf(transactionId).map(({ id }) => id);
    const isShared = bank.charges.some(
      (each) => each.transactionId !== transactionId && ids.includes(each.id),
    );
    return isShared || logCheck.payments.get(transactionId)?.isUnreadable === true;
  }

  /** What has no day was named to staff, and nothing else. */
  function checkParts(settlement: Settlement, { rows }: SettlementFile, named: readonly number[]): void {
    logCheck.look();
    const { recorded } = logCheck.settlements.find(settlement);
    if (settlement.kind === 'remittance') return;
    const undated = (recorded?.parts ?? []).filter(
      ({ account, openedOn }) => account.startsWith('gateway:') && openedOn === null,
    );
    const sum = (amounts: readonly { amountSen: number }[]) =>
      amounts.reduce((total, { amountSen }) => total + amountSen, 0);
    const namedSen = sum(rows.filter((_, index) => named.includes(index + 2)));
    if (sum(undated) !== namedSen)
      report(
        'settlement-misjudged',
        settlement.reference,
        `${sum(undated)} sen have no day, and charges of ${namedSen} sen were named`,
      );
  }

  return {
    checkParts,

    /** To be called before an import; the function returned takes the lines that it names. */
    judgeOf(settlement: Settlement, file: SettlementFile) {
      const judge = createJudge(file);
      const judgeRepeated = createRepeatJudge(settlement, file);
      return ({ named, repeated }: { named: readonly number[]; repeated: readonly number[] }): void => {
        judge(settlement.reference, named);
        judgeRepeated(repeated);
      };
    },
  };
}

/** Its reference is spelled otherwise. */
export const respelled = (file: SettlementFile, reference: string): SettlementFile => ({
  ...file,
  text: file.text.replaceAll(reference, reference.toLowerCase().replace('-', ' -')),
});

export const hashOf = ({ text }: SettlementFile) => createHash('sha256').update(text).digest('hex');
