const hiddenMs = 250;

/** Calls a function once per frame, however often it is requested. A page that is not visible has no frames. */
export class Frames {
  readonly #work: () => void;
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(work: () => void) {
    this.#work = work;
  }

  request(): void {
    if (this.#frame !== 0 || this.#timer !== undefined) return;
    this.#frame = requestAnimationFrame(this.#run);
    this.#timer = setTimeout(this.#run, hiddenMs);
  }

  close(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = 0;
    this.#timer = undefined;
  }

  readonly #run = (): void => {
    this.close();
    this.#work();
  };
}
