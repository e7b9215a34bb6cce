/**
 * Keeps the places with the least of many distances, which are whole numbers: counting how often each occurs says what
 * is too far without sorting. Of equal distances, the places that were added first.
 */
export class Least {
  #distances = new Int32Array(1_024);
  #places = new Int32Array(1_024);
  #added = 0;
  /** How many of the added have each distance, up to the limit. */
  readonly #counts: Int32Array;
  #within = 0;
  /** What a distance must not exceed to be added. */
  limit: number;

  constructor(
    private readonly wanted: number,
    largest: number,
  ) {
    this.#counts = new Int32Array(largest + 1);
    this.limit = largest;
  }

  /** `distance` is within the limit. */
  add(distance: number, place: number): void {
    if (this.#added === this.#places.length) this.#grow();
    this.#distances[this.#added] = distance;
    this.#places[this.#added] = place;
    this.#added += 1;
    this.#counts[distance]! += 1;
    this.#within += 1;
    // without the furthest there would still be enough
    while (this.#within - this.#counts[this.limit]! >= this.wanted) {
      this.#within -= this.#counts[this.limit]!;
      this.limit -= 1;
    }
  }

  /** In the order in which they were added. */
  kept(): { readonly distances: Int32Array; readonly places: Int32Array } {
    let equal = this.wanted - (this.#within - this.#counts[this.limit]!);
    let kept = 0;
    for (let at = 0; at < this.#added; at++) {
      const distance = this.#distances[at]!;
      if (distance > this.limit || (distance === this.limit && equal-- <= 0)) continue;
      this.#distances[kept] = distance;
      this.#places[kept] = this.#places[at]!;
      kept += 1;
    }
    return { distances: this.#distances.subarray(0, kept), places: this.#places.subarray(0, kept) };
  }

  #grow(): void {
    const room = 2 * this.#added;
    const [distances, places] = [new Int32Array(room), new Int32Array(room)];
    distances.set(this.#distances);
    places.set(this.#places);
    this.#distances = distances;
    this.#places = places;
  }
}
