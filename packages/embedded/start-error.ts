/** Something on this machine keeps an embedded part from starting: a sentence for a person, not a bug with a stack. */
export class StartError extends Error {
  override name = 'StartError';
}
