import { untilAborted } from '../../async/abort.js';
import { handled } from '../../errors/handled.js';
import { RunFailed } from '../../runs/executable.js';

/** A text may grow by so much on its way. */
const addedCharacters = 65_536;
const addedTimes = 10;

/**
 * The text of one answer on its way through generators. Each piece that goes in drives them until they ask for the next
 * one, so that readers see what is ready and the model waits for a slow generator.
 */
export class TransformedText {
  private readonly waiting: string[] = [];
  private readonly output: AsyncIterator<string>;
  private pending: Promise<IteratorResult<string>> | undefined;
  private asked = question();
  private wake = (): void => {};
  private complete = false;
  private done = false;
  private takenIn = 0;
  private made = 0;

  constructor(
    through: (pieces: AsyncIterable<string>) => AsyncIterable<string>,
    private readonly signal: AbortSignal,
  ) {
    this.output = through(this.source())[Symbol.asyncIterator]();
  }

  /** Takes in a piece, and gives out what is ready. */
  take(piece: string): AsyncIterable<string> {
    this.takenIn += piece.length;
    this.waiting.push(piece);
    this.asked = question();
    return this.ready();
  }

  /** Gives out the rest: no piece follows. */
  end(): AsyncIterable<string> {
    this.complete = true;
    this.asked = question();
    return this.ready();
  }

  /** Lets generators tidy up that were not driven to their end. */
  close(): void {
    this.complete = true;
    this.wake();
    if (!this.done) handled(Promise.resolve(this.output.return?.()));
  }

  private async *ready(): AsyncGenerator<string> {
    this.wake();
    while (!this.done) {
      this.pending ??= handled(this.output.next());
      const next = await untilAborted(Promise.race([this.pending, this.asked.promise]), this.signal);
      if (next === undefined) return;
      this.pending = undefined;
      if (next.done) this.done = true;
      else yield this.bounded(next.value);
    }
  }

  private bounded(piece: string): string {
    this.made += piece.length;
    const most = this.takenIn * addedTimes + addedCharacters;
    if (this.made > most)
      throw new RunFailed({
        type: 'text_transform_error',
        message: `The text transforms made more than ${most} characters of ${this.takenIn}: that is the limit.`,
      });
    return piece;
  }

  private async *source(): AsyncGenerator<string> {
    for (;;) {
      const piece = this.waiting.shift();
      if (piece !== undefined) yield piece;
      else if (this.complete) return;
      else {
        const woken = new Promise<void>((resolve) => {
          this.wake = resolve;
        });
        this.asked.resolve();
        await woken;
      }
    }
  }
}

/** Resolves when the generators ask for more than they were given. */
function question(): { readonly promise: Promise<undefined>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<undefined>((settle) => {
    resolve = () => settle(undefined);
  });
  return { promise, resolve };
}
