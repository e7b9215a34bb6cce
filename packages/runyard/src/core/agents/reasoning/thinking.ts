import type { PieceEvent } from '../../events/run-event.js';
import type { RunContext } from '../../runs/context.js';
import { reasoningCompleted } from '../agent-events.js';

const delta: PieceEvent = { event: 'ReasoningContentDelta', reasoning_content: '' };

/** How often a model has begun to think in this execution: calls that are made again count on. */
const rounds = new WeakMap<RunContext, number>();

/** Emits what a model thinks by itself while it answers. It may think more than once in a call. */
export class Thinking {
  #round: string | null = null;

  constructor(private readonly context: RunContext) {}

  piece(text: string): void {
    const { context } = this;
    if (this.#round === null) {
      const count = (rounds.get(context) ?? 0) + 1;
      rounds.set(context, count);
      this.#round = `thinking:${context.run.attempt}:${count}`;
      context.emit({ event: 'ReasoningStarted' }, `${this.#round}:started`);
    }
    context.emitDelta(delta, text);
  }

  /** Something else follows. */
  end(): void {
    if (this.#round === null) return;
    this.context.emit(reasoningCompleted([]), `${this.#round}:completed`);
    this.#round = null;
  }
}
