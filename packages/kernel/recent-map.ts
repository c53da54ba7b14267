/** A map of at most `most` entries: beyond that it forgets the one that was set longest ago. */
export class RecentMap<Value> extends Map<string, Value> {
  readonly #most: number;
  /** Kept, because a new iterator first passes the places of all entries deleted since the map last grew. */
  #oldest = this.keys();
  #timesSet = 0;
  constructor(most: number) {
    super();
    this.#most = most;
  }
  override set(name: string, value: Value): this {
    this.delete(name);
    super.set(name, value);
    // Replaced now and then, because in a map that is not full it would keep in memory all that was ever forgotten.
    this.#timesSet += 1;
    if (this.#timesSet % this.#most === 0) this.#oldest = this.keys();
    if (this.size > this.#most) this.delete(this.#oldest.next().value ?? name);
    return this;
  }
}
