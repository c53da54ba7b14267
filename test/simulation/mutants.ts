/**
 * Faults that are put into the program again, one at a time, to see that the simulator finds them: those that it found
 * and that were mended, and some that would break what the program rests on. `npm run simulate -- --mutants` tries all.
 */
import { registerHooks } from 'node:module';
import { mutants } from './mutant-list.ts';
import type { FaultKind } from './plan.ts';
import type { Invariant } from './violations.ts';

/** `code` occurs in the file exactly once. */
type Edit = { file: string; code: string; becomes: string };

export type Mutant = Edit & {
  name: string;
  what: string;
  /** Where two places see to the same. */
  also?: Edit;
  /** What the simulator sees of it. */
  seenBy: readonly Invariant[];
  /** A plan of known-faults/ that shows it; the seeds are tried if it no longer does. */
  plan?: string;
  /** The fault that every seed has, if the mutant shows in no calm history. */
  fault?: FaultKind | 'midnight' | 'transactions' | 'withdrawals' | 'wrong-key' | 'retention' | 'verify';
  payments: number;
  /** It is found within so many seeds, counted from 1. */
  seeds: number;
};

/** Throws if there is none. */
export function mutantNamed(name: string): Mutant {
  const mutant = mutants[name];
  if (!mutant) throw new Error(`There is no mutant ${name}. There are: ${Object.keys(mutants).join(', ')}`);
  return { name, ...mutant };
}

export const editsOf = ({ also, ...edit }: Pick<Mutant, keyof Edit | 'also'>): Edit[] =>
  also ? [edit, also] : [edit];

/** Puts it into the program, which must not have been imported yet. Throws if the code is not there. */
export function installMutant(mutant: Mutant): void {
  for (const edit of editsOf(mutant)) install(edit);
}

function install({ file, code, becomes }: Edit): void {
  const url = new URL(`../../${file}`, import.meta.url).href;
  registerHooks({
    load(loaded, context, nextLoad) {
      const module = nextLoad(loaded, context);
      if (loaded !== url) return module;
      const [before, after, ...more] = String(module.source).split(code);
      if (before === undefined || after === undefined || more.length > 0)
        throw new Error(`${file} does not contain exactly once: ${code}`);
      return { ...module, source: before + becomes + after };
    },
  });
}
