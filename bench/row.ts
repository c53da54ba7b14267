/** One line of the result; `ratio` is relative to the baseline of the same run, `target` is the requirement. */
export type Row = { name: string; value: number; unit: string; ratio?: number; target?: string };
