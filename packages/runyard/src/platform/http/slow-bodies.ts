/** A body that is being read. */
export interface BodyReading {
  /** How many bytes have come. */
  received: number;
  /** How many had come when it was last looked at; undefined when it was not yet. */
  looked: number | undefined;
  /** Gives it up. */
  cut(): void;
}

/** What a body has to bring in each span, unless it ends. */
export const leastBytes = 16_384;

/** Finds bodies that come so slowly that they only hold a place. One timer looks at all of them. */
export class SlowBodies {
  readonly #reading = new Set<BodyReading>();
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly spanMs: number) {}

  add(reading: BodyReading): void {
    this.#reading.add(reading);
    this.#timer ??= setInterval(() => this.#look(), this.spanMs).unref();
  }

  delete(reading: BodyReading): void {
    this.#reading.delete(reading);
  }

  #look(): void {
    if (this.#reading.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const reading of this.#reading) {
      const { looked, received } = reading;
      reading.looked = received;
      if (looked !== undefined && received - looked < leastBytes) reading.cut();
    }
  }
}
