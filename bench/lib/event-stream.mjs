/** Longer than anything here may take. */
const patienceMs = 120_000;

/** The events of one stream, as they come: only the last one, what they are called and their indices are kept. */
export class EventStream {
  #rest = '';
  #lastFrame = '';
  #waiting = [];
  counts = new Map();
  /** The index of the last event. */
  last = -1;

  constructor(response) {
    this.response = response;
    response.setEncoding('utf8');
    this.over = new Promise((resolve) => response.on('close', resolve));
    response.on('data', (chunk) => this.#take(chunk));
    // a killed server breaks its streams off; a reader that waits for an event fails at the time limit
    response.on('error', () => {});
  }

  count(name) {
    return this.counts.get(name) ?? 0;
  }

  /** Resolves when as many events of this name have come. */
  until(name, count = 1) {
    return this.#when(`${count} of ${name}`, () => this.count(name) >= count);
  }

  /** Resolves when the last event that has come holds this text. */
  untilLast(text) {
    return this.#when(`"${text}" at the end`, () => this.#lastFrame.includes(text));
  }

  /** Resolves when an event has come that is later than this index. */
  after(index) {
    return this.#when(`an event after ${index}`, () => this.last > index);
  }

  close() {
    this.response.destroy();
    return this.over;
  }

  #when(what, test) {
    if (test()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`a stream never had ${what}`)), patienceMs);
      const tell = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.push({ test, tell });
    });
  }

  #take(chunk) {
    const frames = (this.#rest + chunk).split('\n\n');
    this.#rest = frames.pop();
    for (const frame of frames) {
      const name = /^event: (.*)$/m.exec(frame)?.[1];
      this.counts.set(name, this.count(name) + 1);
      const index = /^id: (\d+)$/m.exec(frame)?.[1];
      if (index === undefined) continue;
      this.last = Number(index);
      this.#lastFrame = frame;
    }
    const met = this.#waiting.filter(({ test }) => test());
    this.#waiting = this.#waiting.filter((waiter) => !met.includes(waiter));
    for (const { tell } of met) tell();
  }
}
