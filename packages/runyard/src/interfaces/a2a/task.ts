import type { Json, JsonObject } from '../../core/json.js';
import type { RunKind } from '../../core/runs/run.js';

/** The run that a task is a view of. */
export interface TaskPlace {
  readonly kind: RunKind;
  readonly componentId: string;
  readonly runId: string;
  readonly sessionId?: string | undefined;
}

/** The states of a task, in the words of protocol 0.3. */
export type TaskState = 'submitted' | 'working' | 'input-required' | 'completed' | 'failed' | 'canceled';

/** A piece of a message or of an artifact. A file has an address, or bytes in base64. */
export type Part = PartContent & {
  readonly mediaType?: string | undefined;
  readonly filename?: string | undefined;
  readonly metadata?: JsonObject | undefined;
};

type PartContent =
  | { readonly text: string }
  | { readonly data: Json }
  | { readonly url: string }
  | { readonly raw: string };

export interface TaskMessage {
  /** The same at every read. */
  readonly messageId: string;
  readonly role: 'user' | 'agent';
  readonly parts: readonly Part[];
  readonly metadata?: JsonObject | undefined;
}

export interface Artifact {
  readonly artifactId: string;
  readonly name: string;
  readonly parts: readonly Part[];
}

/** A run as a client of A2A sees it, whatever dialect it speaks. */
export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly state: TaskState;
  /** ISO 8601. */
  readonly timestamp: string;
  /** What the state means: the question of a paused run, the error of a failed one. */
  readonly message?: TaskMessage | undefined;
  /** What the user sent. */
  readonly input: TaskMessage;
  /** What the run answered, also when it was broken off. Protocol 1.0 has it as an artifact, 0.3 as a message. */
  readonly answer?: TaskMessage | undefined;
  /** The files that the run made. */
  readonly artifacts: readonly Artifact[];
  readonly metadata?: JsonObject | undefined;
}

/** The artifact that holds the answer, in protocol 1.0. */
export const answerArtifact = { artifactId: 'answer', name: 'answer' } as const;

/** What changes in a task. Each dialect encodes it. */
export type TaskUpdate =
  /** The task as it is: the first update of a stream. */
  | { readonly type: 'task'; readonly task: Task }
  /** The run works. `event`: at what, in snake case. */
  | {
      readonly type: 'working';
      readonly timestamp: string;
      readonly event?: string | undefined;
      readonly fields?: JsonObject | undefined;
    }
  /** A piece of the answer, or of the text of a member or a step, which has an artifact of its own. */
  | {
      readonly type: 'text';
      readonly text: string;
      readonly source: Pick<Artifact, 'artifactId' | 'name'>;
      /** The first piece of a text: what came before under the same source is void. */
      readonly isFirst: boolean;
    }
  | { readonly type: 'reasoning'; readonly text: string; readonly step: string }
  /** The run has ended, or waits for an answer. Nothing follows. `isStreamed`: the whole answer was sent as texts. */
  | { readonly type: 'rest'; readonly task: Task; readonly isStreamed: boolean };
