import type { EventBlock } from '../journal/ports.js';

/** Where a reader that is woken finds more: in what is relayed, or only in the store. */
export type WokenFor = 'relay' | 'store';

export type Wake = (where: WokenFor) => void;

/**
 * Carries events of live runs to readers in other processes, sooner than the store does. It is a short memory and never
 * the record: what it loses, refuses or garbles is read from the store a little later. Without one, readers in other
 * processes are woken by hints and read the store.
 */
export interface EventRelay {
  /** Whether it can be used now. */
  readonly isOpen: boolean;
  /** Whether every process can be reached through it now, as far as is known. */
  readonly reachesAll: boolean;

  /** Keeps a block for a while and wakes those who follow the run. Resolves with how many processes do. */
  send(runId: string, block: EventBlock): Promise<number>;

  /** Wakes those who follow the run: there is something in the store that is not relayed. Never throws. */
  wake(runId: string): void;

  /** What is kept of the run from this index on: up to `limit` blocks in their order, the first of which may begin before it. */
  blocks(runId: string, index: number, limit: number): Promise<readonly EventBlock[]>;

  /**
   * Calls `wake` when the run has progressed. `begun` resolves when that works, or when it cannot for now. `end` ends it.
   */
  follow(runId: string, wake: Wake): { readonly begun: Promise<void>; end(): void };

  /** Calls the listener when the relay opens or closes. The returned function ends that. */
  onChange(listener: () => void): () => void;
}
