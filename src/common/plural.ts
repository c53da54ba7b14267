/** `1 payment`, `2 payments`: a count of an English noun that takes an s. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
