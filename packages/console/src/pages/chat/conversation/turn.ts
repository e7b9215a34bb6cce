import type { Fields, MediaLists, RunView } from '../run/run-view.js';

/** What a person said, and the run that answers it. It never changes: a change makes another one. */
export interface Turn {
  /** Stays the same while the run gets its id, or is replaced. */
  readonly key: string;
  readonly view: RunView;
  readonly input: Input;
  readonly phase: Phase;
  /** How much of the files has been sent, between 0 and 1. */
  readonly sent?: number | undefined;
  /** Why the request or the stream failed. */
  readonly error?: unknown;
  /** The run that this one answers again. */
  readonly regeneratedFrom?: string | undefined;
}

/** `settled`: nothing is in progress; the run may have ended, failed or paused. `failed`: the request did. */
export type Phase = 'sending' | 'live' | 'reconnecting' | 'settled' | 'failed';

export interface Input {
  /** A text, or the object of a component with an input schema. */
  readonly message: string | Fields;
  /** Those that were given here. */
  readonly files: readonly File[];
  /** Those of a stored run: their bytes are in its body. */
  readonly media?: MediaLists | undefined;
  readonly createdAt: string;
}

export function isWorking({ phase }: Turn): boolean {
  return phase === 'sending' || phase === 'live' || phase === 'reconnecting';
}
