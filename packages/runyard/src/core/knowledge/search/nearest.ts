/** Keeps the best of many scored places. Of equal scores, the place that was added first. */
export class Nearest {
  readonly #scores: Float64Array;
  readonly #places: Float64Array;
  #count = 0;
  /** What a score has to exceed to be kept. */
  threshold = Number.NEGATIVE_INFINITY;

  constructor(private readonly wanted: number) {
    this.#scores = new Float64Array(wanted * 2);
    this.#places = new Float64Array(wanted * 2);
  }

  add(score: number, place: number): void {
    this.#scores[this.#count] = score;
    this.#places[this.#count] = place;
    this.#count += 1;
    if (this.#count === this.#scores.length) this.#cut();
  }

  /** The best, in order. */
  sorted(): { readonly place: number; readonly score: number }[] {
    const order = this.#order().slice(0, this.wanted);
    return order.map((at) => ({ place: this.#places[at]!, score: this.#scores[at]! }));
  }

  #cut(): void {
    const kept = this.#order()
      .slice(0, this.wanted)
      .map((at) => [this.#scores[at]!, this.#places[at]!] as const);
    for (const [at, [score, place]] of kept.entries()) {
      this.#scores[at] = score;
      this.#places[at] = place;
    }
    this.#count = kept.length;
    this.threshold = kept[kept.length - 1]![0];
  }

  #order(): number[] {
    return Array.from({ length: this.#count }, (_, at) => at).sort(
      (one, other) => this.#scores[other]! - this.#scores[one]! || one - other,
    );
  }
}
