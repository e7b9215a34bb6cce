import type { EventsOf } from '../events/run-event.js';
import type { EventReader } from '../runs/events/event-reader.js';
import type { RunHandle } from '../runs/execution/run-handle.js';
import type { RunKind, RunStatus } from '../runs/run.js';
import type { ComponentSpace } from './component-space.js';
import { type DeepPartial, partialObjectsOf } from './partial-objects.js';

/** The content of a completed run while it is being written. */
type PartialContent<Output> = Output extends { readonly status: 'completed'; readonly content: infer Content }
  ? DeepPartial<Exclude<Content, string>>
  : never;

/** A run that code has started, and follows or leaves as it likes: `await agent.start(…)`. */
export class StartedRun<Kind extends RunKind = RunKind, Output = unknown> {
  readonly runId: string;
  readonly sessionId: string;

  constructor(
    private readonly space: ComponentSpace,
    private readonly handle: RunHandle,
    private readonly output: () => Promise<Output>,
  ) {
    this.runId = handle.runId;
    this.sessionId = handle.run.sessionId;
  }

  /** As this process knows it: a run that another process took over may be further. */
  get status(): RunStatus {
    return this.handle.run.status;
  }

  /**
   * Yields the events of the run, those from before included, until it ends or pauses. Each call is a reader of its own.
   * Leaving the loop does not cancel the run. `after`: the `event_index` of the last event that the reader has.
   */
  events({ after = -1 }: { readonly after?: number } = {}): AsyncGenerator<EventsOf[Kind], void, void> {
    return decodedEvents<Kind>(this.handle.events(after + 1));
  }

  /**
   * Yields the content of a run with an output schema as it grows, and at last the complete object. The run has to be
   * started with `partialObjects: true`; without, and for an agent whose answers guardrails or post-hooks check, there is
   * the complete object alone.
   */
  partialObjects(): AsyncGenerator<PartialContent<Output>, void, void> {
    // the content fits the schema that the types come from
    return partialObjectsOf(this.events(), this.runId) as AsyncGenerator<PartialContent<Output>, void, void>;
  }

  /** Waits until the run ends or pauses, and resolves with what `run()` resolves with. */
  result(): Promise<Output> {
    return this.output();
  }

  /** Cancels the run, whether it is executed, waits for a slot or is paused. One that has ended stays as it is. */
  async cancel(reason = 'The caller cancelled the run'): Promise<void> {
    const { engine } = this.space;
    const { runId, kind, componentId, sessionId } = this.handle.run;
    const requestedAt = 0;
    await engine.cancel(runId, { runId, kind, componentId, sessionId, userId: null, reason, requestedAt });
  }
}

/** The events of a reader as values. Leaving the loop closes the reader. */
export async function* decodedEvents<Kind extends RunKind>(
  reader: EventReader,
): AsyncGenerator<EventsOf[Kind], void, void> {
  try {
    for (let events = await reader.next(); events !== null; events = await reader.next()) {
      for (const event of events) yield event.decoded<Kind>();
    }
  } finally {
    reader.close();
  }
}
