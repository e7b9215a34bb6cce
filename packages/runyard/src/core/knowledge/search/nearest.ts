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
    if (this.#count > this.wanted) this.#cut();
    const order = this.#order();
    return order.map((at) => ({ place: this.#places[at]!, score: this.#scores[at]! }));
  }

  /** Finds the last score that is kept, and drops what is below it. */
  #cut(): void {
    // sorted as plain numbers, which is ten times faster than sorting the places by their scores
    const sorted = this.#scores.slice(0, this.#count).sort();
    const last = sorted[this.#count - this.wanted]!;
    let equal = this.wanted;
    for (let at = 0; at < this.#count; at++) if (this.#scores[at]! > last) equal -= 1;
    let kept = 0;
    for (let at = 0; at < this.#count; at++) {
      const score = this.#scores[at]!;
      if (score < last || (score === last && equal-- <= 0)) continue;
      this.#scores[kept] = score;
      this.#places[kept] = this.#places[at]!;
      kept += 1;
    }
    this.#count = kept;
    this.threshold = last;
  }

  #order(): number[] {
    return Array.from({ length: this.#count }, (_, at) => at).sort(
      (one, other) => this.#scores[other]! - this.#scores[one]! || one - other,
    );
  }
}
