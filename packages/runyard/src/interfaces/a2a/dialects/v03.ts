import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import type { Artifact, Part, Task, TaskMessage, TaskState, TaskUpdate } from '../task.js';
import type {
  Dialect,
  Frame,
  GivenConfiguration,
  GivenMessage,
  ShownTask,
  UpdateEncoder,
} from './dialect.js';
import { countIn, flagIn, objectIn, readMessage } from './read-params.js';
import { lastOf, wireObject } from './wire.js';

type TaskName = Pick<Task, 'id' | 'contextId'>;

/** Protocol 0.3 has two ways to write the same values. */
interface Spelling {
  /** The discriminator that each value has in JSON-RPC. */
  kind(name: string): JsonObject;
  state(state: TaskState): string;
  role(role: TaskMessage['role']): string;
  /** What the parts of a message are called. */
  readonly parts: 'parts' | 'content';
  part(part: Part): JsonObject;
  /** A value in a stream, and the answer of `send`. */
  wrapped(name: 'task' | 'message' | 'statusUpdate', value: JsonObject): JsonObject;
}

/** JSON-RPC, and the older interface of AgentOS. */
const rpcSpelling: Spelling = {
  kind: (name) => ({ kind: name }),
  state: (state) => state,
  role: (role) => role,
  parts: 'parts',
  part(part): JsonObject {
    const { mediaType: mimeType, filename: name, metadata } = part;
    if ('text' in part) return wireObject({ kind: 'text', text: part.text, metadata });
    if ('data' in part) return wireObject({ kind: 'data', data: dataObject(part.data), metadata });
    const place = 'url' in part ? { uri: part.url } : { bytes: part.raw };
    return wireObject({ kind: 'file', file: wireObject({ ...place, mimeType, name }), metadata });
  },
  wrapped: (_name, value) => value,
};

/** HTTP+JSON: protocol buffers as JSON. */
const restSpelling: Spelling = {
  kind: () => ({}),
  state: (state) =>
    state === 'canceled' ? 'TASK_STATE_CANCELLED' : `TASK_STATE_${state.toUpperCase().replace('-', '_')}`,
  role: (role) => (role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT'),
  parts: 'content',
  part(part): JsonObject {
    const { mediaType: mimeType, filename: name } = part;
    if ('text' in part) return { text: part.text };
    if ('data' in part) return { data: { data: dataObject(part.data) } };
    const place = 'url' in part ? { fileWithUri: part.url } : { fileWithBytes: part.raw };
    return { file: wireObject({ ...place, mimeType, name }) };
  },
  wrapped: (name, value) => ({ [name]: value }),
};

/** A data part of 0.3 is an object. */
function dataObject(data: Json): JsonObject {
  return isJsonObject(data) ? data : { value: data };
}

/** The data of a part is within a value of its own. */
function unwrapped(part: Part): Part {
  if (!('data' in part) || !isJsonObject(part.data)) return part;
  const { data: inner, ...more } = part.data;
  return inner === undefined || Object.keys(more).length > 0 ? part : { ...part, data: inner };
}

function configurationIn(params: JsonObject, blocksByDefault: boolean): GivenConfiguration {
  const configuration = objectIn(params, 'configuration') ?? {};
  return {
    waits: flagIn(configuration, 'blocking') ?? blocksByDefault,
    historyLength: countIn(configuration, 'historyLength') || undefined,
    push: objectIn(configuration, 'pushNotificationConfig') ?? objectIn(configuration, 'pushNotification'),
  };
}

function dialectOf(
  spelling: Spelling,
  readSend: (params: JsonObject) => { message: GivenMessage; configuration: GivenConfiguration },
): Dialect {
  const writer = new Writer(spelling);
  return {
    version: '0.3',
    readSend,
    task: (task, shown) => writer.task(task, shown),
    sent: (task, shown) => spelling.wrapped('task', writer.task(task, shown)),
    encoder: (task) => new V03Encoder(task, writer, spelling),
  };
}

class Writer {
  constructor(private readonly spelling: Spelling) {}

  task(task: Task, { historyLength, withArtifacts = true }: ShownTask = {}): JsonObject {
    const said = [task.input, task.answer, task.message].filter((message) => message !== undefined);
    const history = lastOf(said, historyLength);
    const artifacts = withArtifacts ? task.artifacts : [];
    return wireObject({
      ...this.spelling.kind('task'),
      id: task.id,
      contextId: task.contextId,
      status: this.status(task),
      history: history.length > 0 ? history.map((message) => this.message(message, task)) : undefined,
      artifacts: artifacts.length > 0 ? artifacts.map((one) => this.artifact(one)) : undefined,
      metadata: task.metadata,
    });
  }

  status(task: Task): JsonObject {
    const { state, timestamp, message } = task;
    return wireObject({
      state: this.spelling.state(state),
      message: message && this.message(message, task),
      timestamp,
    });
  }

  message({ messageId, role, parts, metadata }: TaskMessage, { id, contextId }: TaskName): JsonObject {
    return wireObject({
      ...this.spelling.kind('message'),
      messageId,
      role: this.spelling.role(role),
      [this.spelling.parts]: parts.map((part) => this.spelling.part(part)),
      contextId,
      taskId: id,
      metadata,
    });
  }

  private artifact({ artifactId, name, parts }: Artifact): JsonObject {
    return { artifactId, name, parts: parts.map((part) => this.spelling.part(part)) };
  }
}

/** The names of the frames, which clients of AgentOS read. */
const frameNames = { task: 'Task', message: 'Message', statusUpdate: 'TaskStatusUpdateEvent' } as const;

class V03Encoder implements UpdateEncoder {
  constructor(
    private readonly name: TaskName,
    private readonly writer: Writer,
    private readonly spelling: Spelling,
  ) {}

  frames(update: TaskUpdate): readonly Frame[] {
    switch (update.type) {
      case 'task':
        return [];
      case 'working': {
        const { event, fields, timestamp } = update;
        const metadata = event === undefined ? undefined : { agno_event_type: event, ...fields };
        return [this.status({ state: this.spelling.state('working'), timestamp }, false, metadata)];
      }
      case 'reasoning':
        return [this.message({ text: update.text, metadata: { step_type: update.step } }, 'reasoning')];
      case 'text':
        return [this.message({ text: update.text }, 'content')];
      case 'rest': {
        const { task } = update;
        const metadata =
          task.state === 'canceled' ? { ...task.metadata, agno_event_type: 'run_cancelled' } : task.metadata;
        return [
          this.status(this.writer.status(task), true, metadata),
          this.frame('task', this.writer.task(task)),
        ];
      }
    }
  }

  /** The pieces of one answer are messages with one id. */
  private message(part: Part, category: 'content' | 'reasoning'): Frame {
    const message: TaskMessage = {
      messageId: `${this.name.id}-answer`,
      role: 'agent',
      parts: [part],
      metadata: { agno_content_category: category },
    };
    return this.frame('message', this.writer.message(message, this.name));
  }

  private status(status: JsonObject, final: boolean, metadata: JsonObject | undefined): Frame {
    const { id: taskId, contextId } = this.name;
    const kind = this.spelling.kind('status-update');
    return this.frame('statusUpdate', wireObject({ ...kind, taskId, contextId, status, final, metadata }));
  }

  private frame(name: keyof typeof frameNames, value: JsonObject): Frame {
    return { name: frameNames[name], result: this.spelling.wrapped(name, value) };
  }
}

/** Protocol 0.3 over JSON-RPC. Its streams have the frames that clients of AgentOS know. */
export const v03: Dialect = dialectOf(rpcSpelling, (params) => ({
  message: readMessage(params),
  configuration: configurationIn(params, true),
}));

/** Protocol 0.3 over HTTP+JSON. */
export const v03Rest: Dialect = dialectOf(restSpelling, (params) => {
  const message = readMessage(params);
  return {
    message: { ...message, parts: message.parts.map(unwrapped) },
    // a field of a protocol buffer that is false is left out
    configuration: configurationIn(params, objectIn(params, 'configuration') === undefined),
  };
});
