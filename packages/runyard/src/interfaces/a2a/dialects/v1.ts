import type { Json, JsonObject } from '../../../core/json.js';
import {
  type Artifact,
  answerArtifact,
  type Part,
  type Task,
  type TaskMessage,
  type TaskState,
  type TaskUpdate,
} from '../task.js';
import type { Dialect, Frame, GivenSend, ShownTask, UpdateEncoder } from './dialect.js';
import { countIn, flagIn, invalid, objectIn, readMessage } from './read-params.js';
import { lastOf, wireObject } from './wire.js';

const stateNames: Readonly<Record<TaskState, string>> = {
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELED',
};

/** The states of the protocol that a run can be in, and those that it cannot. */
export const stateByName: ReadonlyMap<string, TaskState | null> = new Map<string, TaskState | null>([
  // the names are those of the table above
  ...(Object.entries(stateNames) as [TaskState, string][]).map(([state, name]) => [name, state] as const),
  ['TASK_STATE_REJECTED', null],
  ['TASK_STATE_AUTH_REQUIRED', null],
]);

/** Protocol 1.0: the same values over JSON-RPC and HTTP+JSON. */
export const v1: Dialect = {
  version: '1.0',
  readSend(params): GivenSend {
    const message = readMessage(params);
    if (message.parts.length === 0) throw invalid('message.parts is empty');
    const configuration = objectIn(params, 'configuration') ?? {};
    return {
      message: { ...message, metadata: message.metadata ?? objectIn(params, 'metadata') },
      configuration: {
        waits: !(flagIn(configuration, 'returnImmediately') ?? false),
        historyLength: countIn(configuration, 'historyLength'),
        push: objectIn(configuration, 'taskPushNotificationConfig'),
      },
    };
  },
  task: taskBody,
  sent: (task, shown) => ({ task: taskBody(task, shown) }),
  encoder: (task) => new V1Encoder(task),
};

function taskBody(task: Task, { historyLength, withArtifacts }: ShownTask = {}): JsonObject {
  const artifacts = withArtifacts === false ? [] : artifactsOf(task);
  const history = lastOf([task.input], historyLength);
  return wireObject({
    id: task.id,
    contextId: task.contextId,
    status: statusBody(task),
    // a client that asks for them by name gets an empty list, too
    artifacts: artifacts.length > 0 || withArtifacts ? artifacts.map(artifactBody) : undefined,
    history: history.length > 0 ? history.map((message) => messageBody(message, task)) : undefined,
    metadata: task.metadata,
  });
}

/** The answer is an artifact: messages are for what is said about a task. */
function artifactsOf({ answer, artifacts }: Task): readonly Artifact[] {
  return answer === undefined ? artifacts : [{ ...answerArtifact, parts: answer.parts }, ...artifacts];
}

function statusBody(task: Task): JsonObject {
  const { state, timestamp, message } = task;
  return wireObject({
    state: stateNames[state],
    message: message && messageBody(message, task),
    timestamp,
  });
}

function messageBody({ messageId, role, parts, metadata }: TaskMessage, task: TaskName): JsonObject {
  return wireObject({
    messageId,
    contextId: task.contextId,
    taskId: task.id,
    role: role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT',
    parts: parts.map(partBody),
    metadata,
  });
}

function artifactBody({ artifactId, name, parts }: Artifact): JsonObject {
  return { artifactId, name, parts: parts.map(partBody) };
}

function partBody(part: Part): JsonObject {
  const { mediaType, filename, metadata, ...content } = part;
  return wireObject({ ...content, mediaType, filename, metadata });
}

type TaskName = Pick<Task, 'id' | 'contextId'>;

class V1Encoder implements UpdateEncoder {
  /** The artifacts that have been begun. */
  private readonly begun = new Set<string>();

  constructor(private readonly name: TaskName) {}

  frames(update: TaskUpdate): readonly Frame[] {
    switch (update.type) {
      case 'task':
        return [frame({ task: taskBody(update.task, { withArtifacts: false }) })];
      case 'working': {
        const { event, fields, timestamp } = update;
        const metadata = event === undefined ? undefined : { event_type: event, ...fields };
        return [this.status({ state: stateNames.working, timestamp }, metadata)];
      }
      case 'reasoning': {
        const metadata = { event_type: 'reasoning_step', step_type: update.step, text: update.text };
        return [this.status({ state: stateNames.working }, metadata)];
      }
      case 'text': {
        const { source, text, isFirst } = update;
        const append = this.begun.has(source.artifactId) && !isFirst;
        return [this.artifact({ ...source, parts: [{ text }] }, { append })];
      }
      case 'rest':
        return this.last(update.task, update.isStreamed);
    }
  }

  private last(task: Task, isStreamed: boolean): readonly Frame[] {
    const whole = isStreamed ? [] : artifactsOf(task);
    const files = isStreamed ? task.artifacts : [];
    return [
      // the pieces are complete
      ...(isStreamed
        ? [this.artifact({ ...answerArtifact, parts: [{ text: '' }] }, { append: true, lastChunk: true })]
        : []),
      ...[...whole, ...files].map((one) => this.artifact(one, { append: false, lastChunk: true })),
      this.status(statusBody(task), task.metadata),
    ];
  }

  private artifact(artifact: Artifact, how: JsonObject): Frame {
    this.begun.add(artifact.artifactId);
    const { id: taskId, contextId } = this.name;
    return frame({ artifactUpdate: { taskId, contextId, artifact: artifactBody(artifact), ...how } });
  }

  private status(status: JsonObject, metadata: JsonObject | undefined): Frame {
    const { id: taskId, contextId } = this.name;
    return frame({
      statusUpdate: wireObject({ taskId, contextId, status, metadata }),
    });
  }
}

/** Frames of protocol 1.0 have no names. */
function frame(result: Json): Frame {
  return { name: '', result };
}
