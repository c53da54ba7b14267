/** A map of at most `most` entries: beyond that it forgets the one that was set longest ago. */
export class RecentMap<Value> extends Map<string, Value> {
  readonly #most: number;
  constructor(most: number) {
    super();
    this.#most = most;
  }
  override set(name: string, value: Value): this {
    this.delete(name);
    super.set(name, value);
    const [oldest] = this.keys();
    if (this.size > this.#most && oldest !== undefined) this.delete(oldest);
    return this;
  }
}
