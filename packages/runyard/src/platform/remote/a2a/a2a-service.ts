import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { RemoteConnection } from '../../../core/remote/remote-options.js';
import {
  type RemoteAnswers,
  type RemoteEvent,
  RemoteFault,
  type RemoteRef,
  type RemoteRun,
  type RemoteService,
  type RemoteStart,
  taskEvent,
} from '../../../core/remote/remote-service.js';
import { A2aBinding } from './a2a-binding.js';
import { readCard } from './agent-card.js';
import {
  answerParts,
  filePart,
  partsOf,
  runOf,
  runOfMessage,
  textIn,
  textOf,
  textPart,
  updateIn,
} from './task-values.js';

/** How many tasks of runs in progress are kept in mind. */
const mostTasks = 10_000;
/** How many answers without a task, which are held whole until their run has read them. */
const mostAnswers = 200;
const listed = 50;

/**
 * An agent of whatever make that speaks A2A. Its tasks have ids of their own: the message that starts a task has the id of
 * the run, by which the task is found again where the agent can list its tasks.
 */
export class A2aService implements RemoteService {
  readonly address: string;
  private opened: A2aBinding | undefined;
  private readonly tasks = new Map<string, string>();
  private readonly answers = new Map<string, RemoteRun>();

  constructor(private readonly options: RemoteConnection) {
    this.address = options.url.replace(/\/+$/, '');
  }

  async *start(start: RemoteStart, signal: AbortSignal): AsyncGenerator<RemoteEvent> {
    const { version } = (await this.binding(signal)).offered;
    const parts = [
      textPart(start.message, version),
      ...start.media.map((medium) => filePart(medium, version)),
    ];
    const metadata = {
      ...start.options.metadata,
      ...(start.userId !== undefined && { userId: start.userId }),
    };
    const message = { messageId: start.runId, contextId: start.sessionId, parts, metadata };
    yield* this.send(start, message, signal, start.hops);
  }

  async *continue(ref: RemoteRef, answers: RemoteAnswers, signal: AbortSignal): AsyncGenerator<RemoteEvent> {
    const { version } = (await this.binding(signal)).offered;
    const taskId = await this.taskOf(ref, signal);
    if (taskId === undefined) throw new RemoteFault('absent', 'the task is gone');
    const asked = answers.requirements.map(({ id }) => String(id)).join('-');
    const message = {
      // the same answer has the same id
      messageId: `${ref.runId}-${asked}`.slice(0, 250),
      contextId: ref.sessionId,
      taskId,
      parts: answerParts(answers, version),
      metadata: {},
    };
    yield* this.send(ref, message, signal);
  }

  async *resume(ref: RemoteRef, _afterIndex: number, signal: AbortSignal): AsyncGenerator<RemoteEvent> {
    const id = await this.taskOf(ref, signal);
    if (id === undefined) {
      if (this.answers.has(ref.runId)) return;
      throw new RemoteFault('absent', 'there is no task for the run');
    }
    const binding = await this.binding(signal);
    if (!binding.offered.streaming) return;
    try {
      yield* this.events(ref, binding.stream('subscribe', { id }, signal));
    } catch (error) {
      // a task that has ended, and an agent that cannot be subscribed to, are read instead
      if (!(error instanceof RemoteFault) || error.kind === 'unreachable') throw error;
    }
  }

  async read(ref: RemoteRef, signal: AbortSignal): Promise<RemoteRun | undefined> {
    const answer = this.answers.get(ref.runId);
    if (answer !== undefined) return answer;
    const id = await this.taskOf(ref, signal);
    if (id === undefined) return undefined;
    try {
      return runOf(await (await this.binding(signal)).call('get', { id }, signal));
    } catch (error) {
      if (error instanceof RemoteFault && error.kind === 'absent') return undefined;
      throw error;
    }
  }

  async cancel(ref: RemoteRef, signal: AbortSignal): Promise<void> {
    const id = await this.taskOf(ref, signal);
    if (id !== undefined) await (await this.binding(signal)).call('cancel', { id }, signal);
  }

  /** Each run reads the card for itself until one has read it: a run that is cancelled ends its own reading alone. */
  private async binding(signal: AbortSignal): Promise<A2aBinding> {
    const { opened = new A2aBinding(this.options, await readCard(this.options, signal)) } = this;
    this.opened = opened;
    return opened;
  }

  private async *send(
    ref: RemoteRef,
    message: JsonObject,
    signal: AbortSignal,
    hops?: number,
  ): AsyncGenerator<RemoteEvent> {
    const binding = await this.binding(signal);
    const { version, streaming } = binding.offered;
    const isFirst = version === '1.0';
    const params: JsonObject = {
      message: isFirst ? { ...message, role: 'ROLE_USER' } : { ...message, role: 'user', kind: 'message' },
      ...(!streaming && { configuration: waitingFor(isFirst) }),
    };
    if (streaming) yield* this.events(ref, binding.stream('stream', params, signal, hops));
    else yield* this.events(ref, [await binding.call('send', params, signal, hops)]);
  }

  /** Text comes as content of the run. What else a task says about its work has no counterpart here. */
  private async *events(
    ref: RemoteRef,
    results: AsyncIterable<JsonObject> | readonly JsonObject[],
  ): AsyncGenerator<RemoteEvent> {
    const said = (content: string) => ({
      name: 'RunContent',
      index: undefined,
      fields: { run_id: ref.runId, content },
    });
    let source: string | undefined;
    for await (const result of results) {
      const update = updateIn(result);
      if (update === undefined) continue;
      const taskId = update.type === 'task' ? textOf(update.task.id) : taskIn(update);
      if (taskId !== undefined && this.tasks.get(ref.runId) !== taskId) {
        remember(this.tasks, mostTasks, ref.runId, taskId);
        yield { name: taskEvent, index: undefined, fields: { run_id: ref.runId, task_id: taskId } };
      }
      if (update.type === 'text' && update.text !== '') {
        // one text after the other: those of others at work are in the task
        source ??= update.source;
        if (source === update.source) yield said(update.text);
      } else if (update.type === 'message') {
        const text = textIn(partsOf(update.message));
        if (text !== '') yield said(text);
        if (taskId === undefined)
          remember(this.answers, mostAnswers, ref.runId, runOfMessage(update.message));
      }
    }
  }

  /** The task of a run: as it is known, as the journal has it, or as the agent lists it. */
  private async taskOf(ref: RemoteRef, signal: AbortSignal): Promise<string | undefined> {
    const known = this.tasks.get(ref.runId) ?? ref.taskId;
    if (known !== undefined) return known;
    const binding = await this.binding(signal);
    try {
      const params = { contextId: ref.sessionId, pageSize: listed, historyLength: 10 };
      const { tasks } = await binding.call('list', params, signal);
      const found = (Array.isArray(tasks) ? tasks : []).find((one) => hasMessage(one, ref.runId));
      const id = isJsonObject(found) ? textOf(found.id) : undefined;
      if (id !== undefined) remember(this.tasks, mostTasks, ref.runId, id);
      return id;
    } catch (error) {
      // an agent need not list its tasks
      if (error instanceof RemoteFault && error.kind !== 'unreachable') return undefined;
      throw error;
    }
  }
}

/** The agent answers at once, and its task is read again until it rests. */
function waitingFor(isFirst: boolean): JsonObject {
  return isFirst ? { returnImmediately: true } : { blocking: false };
}

function taskIn(
  update: Exclude<ReturnType<typeof updateIn>, undefined | { type: 'task' }>,
): string | undefined {
  return update.type === 'message' ? textOf(update.message.taskId) : update.taskId;
}

function hasMessage(task: unknown, messageId: string): boolean {
  return JSON.stringify(task).includes(JSON.stringify(messageId));
}

function remember<Value>(map: Map<string, Value>, most: number, key: string, value: Value): void {
  const [oldest] = map.size >= most ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}
