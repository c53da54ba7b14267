/** Something that the operator can see to keeps a store or a command from going on. Show the message without a stack. */
export class StartError extends Error {
  override name = 'StartError';
}

/** An embedded store does not answer, or has ended: the same may succeed later. */
export class StoreAway extends StartError {
  override name = 'StoreAway';
}
