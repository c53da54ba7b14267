/** Something that the operator can see to keeps a store or a command from going on. Show the message without a stack. */
export class StartError extends Error {
  override name = 'StartError';
}
