/** A map of at most `most` entries: beyond that it forgets the one that was set longest ago. */
export class RecentMap<Value> extends Map<string, Value> {
  readonly #most: number;
  /** Kept, because a new iterator first passes the places of all entries deleted since the map last grew. */
  readonly #oldest = this.keys();
  constructor(most: number) {
    super();
    this.#most = most;
  }
  override set(name: string, value: Value): this {
    this.delete(name);
    super.set(name, value);
    if (this.size > this.#most) this.delete(this.#oldest.next().value ?? name);
    return this;
  }
}
