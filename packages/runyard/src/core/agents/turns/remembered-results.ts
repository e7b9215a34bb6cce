import type { Message } from '../../models/message.js';
import type { StepRecord } from '../../runs/run.js';
import { estimatedTokens } from '../auxiliary/bounded-text.js';

/** The tool results among the messages of an execution, and how long they are together. It looks at each once. */
export class RememberedResults {
  /** An estimate, as the model reads them now. */
  tokens = 0;
  private looked = 0;
  private next = 0;
  private places: Map<string, number> | null = null;
  private readonly steps: StepRecord[] = [];

  constructor(private readonly messages: Message[]) {}

  /** Takes in the results of a turn, and what has been said since the last one. */
  add(steps: readonly StepRecord[]): void {
    this.steps.push(...steps);
    for (const [at, { role, id, content }] of this.messages.slice(this.looked).entries()) {
      if (role !== 'tool') continue;
      this.tokens += estimatedTokens(content);
      this.places ??= new Map();
      this.places.set(id, this.looked + at);
    }
    this.looked = this.messages.length;
  }

  /** The oldest result that was not taken yet, if it fits. */
  take(fits: (step: StepRecord) => boolean): StepRecord | undefined {
    const step = this.steps[this.next];
    if (step === undefined || !fits(step)) return undefined;
    this.next += 1;
    return step;
  }

  /** The model reads this instead from now on; the transcript has both. */
  shorten(messageId: string, text: string): void {
    const place = this.places?.get(messageId);
    const message = place === undefined ? undefined : this.messages[place];
    if (place === undefined || message === undefined) return;
    this.tokens += estimatedTokens(text) - estimatedTokens(message.content);
    this.messages[place] = { ...message, content: text };
  }
}
