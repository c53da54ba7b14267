/** One line of a benchmark's result; `ratio` is to the baseline of the same run, `target` says what is asked for. */
export type Row = { name: string; value: number; unit: string; ratio?: number; target?: string };
