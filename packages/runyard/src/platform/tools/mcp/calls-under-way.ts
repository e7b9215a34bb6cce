import { AsyncLocalStorage } from 'node:async_hooks';
import { RunPaused } from '../../../core/runs/context.js';
import type { QuestionAnswer, ToolQuestion } from '../../../core/tools/questions/tool-question.js';
import type { ToolContext } from '../../../core/tools/tool-context.js';

/** How long a server may take to end its call after a `cancel`. */
const cancelMs = 1_000;

/** A call of a server's tool that has not ended, in whose name the server may ask for something. */
export class CallUnderWay {
  /** What the server asked for and has not got yet. */
  readonly served = new Set<Promise<unknown>>();
  readonly #abandon = new AbortController();
  #paused: RunPaused | undefined;
  /** The server knows that a question was dismissed: what it asks now follows from that. */
  #dismissed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly context: ToolContext) {}

  get signal(): AbortSignal {
    return AbortSignal.any([this.context.signal, this.#abandon.signal]);
  }

  /** Asks the person. A server cannot wait for them: it gets a dismissal, and is called again later. */
  async ask(question: ToolQuestion): Promise<QuestionAnswer> {
    if (this.#dismissed) return { action: 'cancel' };
    try {
      return await this.context.ask(question);
    } catch (error) {
      if (!(error instanceof RunPaused)) throw error;
      this.#paused = error;
      // what it asks together with this one is on its way already
      setImmediate(() => {
        this.#dismissed = true;
      });
      this.#timer ??= setTimeout(() => this.#abandon.abort(error), cancelMs).unref();
      return { action: 'cancel' };
    }
  }

  async ended(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.allSettled(this.served);
    if (this.#paused !== undefined) throw this.#paused;
  }
}

interface Undecided {
  resolve(call: CallUnderWay): void;
  reject(error: Error): void;
}

/**
 * The calls of one connection. Over HTTP, and in the newer protocol, a request of the server arrives in the course of the
 * call that it belongs to. From a process that speaks the older one it arrives by itself: it belongs to the only call,
 * or waits until the others have ended.
 */
export class CallsUnderWay {
  readonly #course = new AsyncLocalStorage<CallUnderWay>();
  readonly #open = new Set<CallUnderWay>();
  #undecided: Undecided[] = [];
  #held: (() => void)[] = [];

  async run<T>(context: ToolContext, request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    // a new call would be one more that the question may belong to
    while (this.#undecided.length > 0) await new Promise<void>((resolve) => this.#held.push(resolve));
    context.signal.throwIfAborted();
    const call = new CallUnderWay(context);
    this.#open.add(call);
    try {
      return await this.#course.run(call, () => request(call.signal));
    } finally {
      this.#open.delete(call);
      this.#decide();
      await call.ended();
    }
  }

  /** Does something that the server asks for on behalf of the call that it belongs to. */
  async serve<T>(work: (call: CallUnderWay) => Promise<T>): Promise<T> {
    const call = this.#course.getStore() ?? (await this.#asker());
    if (!this.#open.has(call)) throw new Error('The call that this request belongs to has ended.');
    const served = work(call);
    call.served.add(served);
    return served.finally(() => call.served.delete(served));
  }

  #asker(): Promise<CallUnderWay> {
    return new Promise((resolve, reject) => {
      this.#undecided.push({ resolve, reject });
      this.#decide();
    });
  }

  #decide(): void {
    if (this.#undecided.length === 0) return;
    const [only] = this.#open;
    const asking = this.#undecided;
    if (only === undefined) this.#settle(asking, (one) => one.reject(new Error('No call is under way.')));
    else if (this.#open.size === 1) this.#settle(asking, (one) => one.resolve(only));
    // when every call waits, nothing becomes clear by waiting
    else if (asking.length >= this.#open.size)
      this.#settle(asking.slice(-1), (one) => one.reject(ambiguous()));
  }

  #settle(settled: readonly Undecided[], how: (one: Undecided) => void): void {
    this.#undecided = this.#undecided.filter((one) => !settled.includes(one));
    for (const one of settled) how(one);
    if (this.#undecided.length > 0) return;
    for (const release of this.#held.splice(0)) release();
  }
}

function ambiguous(): Error {
  return new Error(
    'Another call of this server asks at the same time, and the server does not say which call a question belongs to. Call this tool again when the other call has ended.',
  );
}
