/** Something on this machine keeps an embedded store from starting. Show the operator the message without a stack. */
export class StartError extends Error {
  override name = 'StartError';
}
