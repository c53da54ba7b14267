/** Something that the operator can see to keeps a store or a command from going on. Show the message without a stack. */
export class StartError extends Error {
  override name = 'StartError';
}

/** A store does not answer, has ended, or does not run at all: the same may succeed later. */
export class StoreAway extends StartError {
  override name = 'StoreAway';
}
