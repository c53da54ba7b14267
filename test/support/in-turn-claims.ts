// Which process runs which test file, and the result: a claim is a file in a folder, named after the test file. It
// holds the outcome once the test file has been run to its end.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Outcome = 'passed' | 'failed';

const claimOf = (claims: string, file: string): string => join(claims, file.replaceAll('/', '-'));

/** True for the first process that claims it. */
export function claim(claims: string, file: string): boolean {
  try {
    writeFileSync(claimOf(claims, file), '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

export function recordOutcome(claims: string, file: string, outcome: Outcome): void {
  writeFileSync(claimOf(claims, file), outcome);
}

/** Undefined if no process has run it to its end. */
export function outcomeOf(claims: string, file: string): Outcome | undefined {
  try {
    return (readFileSync(claimOf(claims, file), 'utf8') || undefined) as Outcome | undefined;
  } catch {
    return undefined;
  }
}
