import type { WorkflowEvent } from '../../core/events/run-event.js';
import type { Json, JsonObject } from '../../core/json.js';
import { fieldsOf } from '../../core/objects.js';
import type { LoggedEvent } from '../../core/runs/events/logged-event.js';
import type { RunKind } from '../../core/runs/run.js';
import { objectsIn } from '../common/answers/question.js';
import { Calls, callOf } from './calls.js';
import type { Chunk } from './chunk.js';

interface OpenPart {
  readonly kind: 'text' | 'reasoning';
  readonly id: string;
}

/**
 * Turns the events of a run, in their order, into chunks of one message. A step of the message is a model call with the
 * tool calls that it led to.
 */
export class UiParts {
  /** Calls that the client knows of. */
  readonly calls: Calls;
  /** The text that was written last, of the run itself or of a step of a workflow. */
  lastText = '';
  private open: OpenPart | undefined;
  private count = 0;
  private step: 'none' | 'calling' | 'called' = 'none';
  private readonly members = new Map<string, JsonObject>();

  constructor(
    private readonly kind: RunKind,
    private readonly runId: string,
    known: Iterable<string> = [],
  ) {
    this.calls = new Calls(known);
  }

  /** Only an event that is no piece of a text has to be read. */
  of(logged: LoggedEvent): Chunk[] | Promise<Chunk[]> {
    const { piece, name, runId } = logged;
    if (piece === undefined) return this.ofDecoded(logged);
    const plain = plainName(name);
    if (!this.isShown(runId)) return [];
    if (plain === 'RunContent') return this.text(piece);
    return plain === 'ReasoningContentDelta' ? this.pieceOf('reasoning', piece) : [];
  }

  /** Ends what is open: the message ends, or something else begins. */
  closePart(): Chunk[] {
    if (this.open === undefined) return [];
    const { kind, id } = this.open;
    this.open = undefined;
    return [{ type: `${kind}-end`, id }];
  }

  endStep(): Chunk[] {
    const ended = this.closePart();
    if (this.step !== 'none') ended.push({ type: 'finish-step' });
    this.step = 'none';
    return ended;
  }

  /** A text that was not streamed. */
  whole(text: string): Chunk[] {
    return this.wholeOf('text', text);
  }

  /** What members of a team say is theirs; what the steps of a workflow say is what it has to say. */
  private isShown(runId: string): boolean {
    return runId === this.runId || this.kind === 'workflow';
  }

  private async ofDecoded(logged: LoggedEvent): Promise<Chunk[]> {
    const event = await logged.decoded();
    const name = plainName(event.event);
    if (event.event === 'CustomEvent') return this.customOf(event);
    if (name === 'StepStarted' || name === 'StepCompleted' || name === 'StepError')
      return this.stepOf(event, name);
    if (!this.isShown(event.run_id)) return this.memberOf(event, name);
    const fields = fieldsOf(event);
    switch (name) {
      case 'ModelRequestStarted':
        return this.begin();
      case 'ModelRequestCompleted':
        if (this.step === 'calling') this.step = 'called';
        return this.closePart();
      case 'RunContent':
        return [...this.text(''), ...this.text(contentText(fields.content)), ...this.closePart()];
      case 'ReasoningStep':
        return this.wholeOf('reasoning', String(fields.reasoning_content ?? ''));
      case 'ReasoningCompleted':
        return this.open?.kind === 'reasoning' ? this.closePart() : [];
      case 'ToolCallStarted':
        return [...this.closePart(), ...this.calls.started(callOf(fields.tool))];
      case 'ToolCallCompleted':
        return [...this.closePart(), ...this.calls.completed(callOf(fields.tool))];
      case 'RunPaused':
        return [
          ...this.closePart(),
          ...objectsIn(fields.requirements).flatMap((one) => this.calls.asked(one)),
        ];
      default:
        return [];
    }
  }

  private customOf(event: WorkflowEvent): Chunk[] {
    const data = customFields(event);
    const partial = this.isShown(event.run_id) ? this.calls.progressed(data) : undefined;
    return partial ?? [{ type: 'data-event', data, transient: true }];
  }

  /** A call that is made again, after a failure or a crash, takes the place of what the first one said. */
  private begin(): Chunk[] {
    const before = this.step;
    if (before === 'calling') {
      this.open = undefined;
      this.lastText = '';
      return [{ type: 'reset-step' }];
    }
    const chunks = this.endStep();
    this.step = 'calling';
    return [...chunks, { type: 'start-step' }];
  }

  /** Each answer begins with an empty piece. */
  private text(piece: string): Chunk[] {
    if (piece !== '') {
      const begun = this.pieceOf('text', piece);
      this.lastText += piece;
      return begun;
    }
    this.lastText = '';
    return this.closePart();
  }

  private wholeOf(kind: OpenPart['kind'], text: string): Chunk[] {
    return text === '' ? [] : [...this.closePart(), ...this.pieceOf(kind, text), ...this.closePart()];
  }

  private pieceOf(kind: OpenPart['kind'], delta: string): Chunk[] {
    const chunks: Chunk[] = [];
    if (this.open?.kind !== kind) {
      chunks.push(...this.closePart());
      this.count += 1;
      this.open = { kind, id: `${kind}-${this.count}` };
      chunks.push({ type: `${kind}-start`, id: this.open.id });
    }
    if (delta !== '') chunks.push({ type: `${kind}-delta`, id: this.open.id, delta });
    return chunks;
  }

  private stepOf(event: WorkflowEvent, name: string): Chunk[] {
    const { step_id: id, step_name: step, run_id: runId } = fieldsOf(event);
    const status = name === 'StepStarted' ? 'running' : name === 'StepCompleted' ? 'completed' : 'error';
    return [
      ...this.closePart(),
      {
        type: 'data-step',
        id: String(id ?? `${String(runId)}:${String(step)}`),
        data: { name: String(step ?? ''), status },
      },
    ];
  }

  /** A member of a team: that it works, and what it said in the end. */
  private memberOf(event: WorkflowEvent, name: string): Chunk[] {
    const status = memberStatuses.get(name);
    if (status === undefined) return [];
    const {
      run_id: runId,
      agent_name: agent,
      agent_id: agentId,
      team_name: team,
      team_id: teamId,
      content,
    } = fieldsOf(event);
    const known = this.members.get(String(runId));
    const data: JsonObject = {
      name: known?.name ?? String(agent ?? agentId ?? team ?? teamId ?? ''),
      status,
      ...(status !== 'running' && { content: contentText(content) }),
    };
    this.members.set(String(runId), data);
    return [{ type: 'data-member', id: String(runId), data }];
  }
}

const memberStatuses = new Map([
  ['RunStarted', 'running'],
  ['RunContinued', 'running'],
  ['RunCompleted', 'completed'],
  ['RunPaused', 'paused'],
  ['RunError', 'error'],
  ['RunCancelled', 'cancelled'],
]);

/** The events of a team have those of an agent in their names. */
function plainName(name: string): string {
  return name.startsWith('Team') ? name.slice('Team'.length) : name;
}

export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return content === undefined || content === null ? '' : JSON.stringify(content);
}

const envelope = new Set(['event', 'created_at', 'run_id', 'session_id', 'nested_depth', 'event_index']);

function customFields(event: WorkflowEvent): JsonObject {
  // events of the wire are JSON
  const entries = Object.entries(event) as [string, Json][];
  return Object.fromEntries(entries.filter(([name]) => !envelope.has(name)));
}
