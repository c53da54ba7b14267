/**
 * One line of the result. `ratio` is relative to a baseline of the same run. `target` is the requirement, such as
 * `<= 3.5`, `ratio <= 1.7` or `>= 6000 or ratio >= 0.15`; a run that misses one ends with exit code 1.
 */
export type Row = {
  name: string;
  value: number;
  unit: string;
  ratio?: number;
  target?: string;
  /** What it does not do, if it is not ours. */
  note?: string;
};

/** Throws on a target in another form. */
export function isMet({ value, ratio, target }: Row): boolean {
  if (target === undefined) return true;
  return target.split(' or ').some((each) => {
    const [, of, sign, limit] = /^(ratio )?(<=|>=) ([\d.]+)$/.exec(each) ?? [];
    if (limit === undefined) throw new Error(`Not a target: ${each}`);
    const measured = of ? ratio : value;
    if (measured === undefined) throw new Error(`There is no ratio to compare with ${each}`);
    return sign === '<=' ? measured <= Number(limit) : measured >= Number(limit);
  });
}

/** The value that a share of the others, such as 0.5 or 0.99, does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
