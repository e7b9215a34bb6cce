import type { Json, JsonObject } from '../../../core/json.js';
import type { Part, Task, TaskUpdate } from '../task.js';

/** A message of a client. */
export interface GivenMessage {
  readonly messageId: string;
  /** The session. */
  readonly contextId?: string | undefined;
  /** The task that it answers. */
  readonly taskId?: string | undefined;
  readonly parts: readonly Part[];
  readonly metadata?: JsonObject | undefined;
}

/** How the client wants to be answered. */
export interface GivenConfiguration {
  readonly waits: boolean;
  readonly historyLength?: number | undefined;
  /** Push notifications for the task, in the form of the dialect. */
  readonly push?: JsonObject | undefined;
}

export interface GivenSend {
  readonly message: GivenMessage;
  readonly configuration: GivenConfiguration;
}

/** Which part of a task's history a client wants: the last so many messages; undefined: all of them. */
export interface ShownTask {
  readonly historyLength?: number | undefined;
  readonly withArtifacts?: boolean | undefined;
}

/** One way to write the protocol. Nothing but a dialect knows names of the wire. */
export interface Dialect {
  readonly version: '1.0' | '0.3';
  readSend(params: JsonObject): GivenSend;
  /** The task alone, as `get` and `cancel` answer. */
  task(task: Task, shown?: ShownTask): JsonObject;
  /** What `send` answers. */
  sent(task: Task, shown?: ShownTask): Json;
  /** Encodes the updates of one stream, in their order. */
  encoder(task: Pick<Task, 'id' | 'contextId'>): UpdateEncoder;
}

export interface UpdateEncoder {
  frames(update: TaskUpdate): readonly Frame[];
}

/** The frames of a stream: one JSON value each, with its name where the dialect has names. */
export interface Frame {
  readonly name: string;
  readonly result: Json;
}
