import type { RequirementBody, ToolCallBody } from '../../../core/events/agent-event.js';
import type { WorkflowEvent } from '../../../core/events/run-event.js';
import type { Json, JsonObject } from '../../../core/json.js';
import { fieldsOf } from '../../../core/objects.js';
import type { LoggedEvent } from '../../../core/runs/events/logged-event.js';
import { type AguiEvent, type AguiMessage, contentText } from './agui-event.js';
import { Lane } from './lane.js';
import { Steps } from './steps.js';

/** What clients learn by events of the protocol alone, or by the last of them. */
const notRaw = new Set([
  ...['RunCompleted', 'RunPaused', 'WorkflowCompleted', 'WorkflowPaused', 'StepOutput', 'StepCompleted'],
  ...['ReasoningStarted', 'ReasoningStep', 'ReasoningCompleted', 'RunContent', 'RunIntermediateContent'],
  ...['ToolCallStarted', 'ToolCallCompleted', 'CustomEvent', 'ReasoningContentDelta'],
]);

type Usage = Record<'inputTokens' | 'outputTokens' | 'totalTokens' | 'reasoningTokens', number> &
  Record<'cachedInputTokens' | 'cacheWriteInputTokens', number> & { provider: string; model: string };

export interface RunEventsOptions {
  readonly runId: string;
  /** Whether the client speaks 1.0. Older ones refuse events that they do not know. */
  readonly isModern: boolean;
  /** How many answers of the model an earlier stream has shown. */
  readonly shownAnswers?: number;
  /** The same for runs within the run: no less than they have had. */
  readonly innerFrom?: number;
  /** Calls that the client has been shown in an earlier stream. */
  readonly shownCalls?: Iterable<string>;
  /** The events that say that the state changed, if it did. */
  stateChange(): Promise<readonly AguiEvent[]>;
  /** The messages that come before those of the run. Asked for only when something that was said is void. */
  earlier(): Promise<readonly AguiMessage[]>;
}

/** Turns the events of a run, in their order, into events of the protocol. */
export class RunEvents {
  private readonly lanes = new Map<string, Lane>();
  private readonly own: Lane;
  private readonly steps: Steps;
  private readonly shownCalls: Set<string>;
  private readonly results = new Set<string>();
  private readonly members = new Map<string, 'open' | 'over'>();
  /** The calls that the run waited for. If it continues in this stream, they are shown then. */
  private asked: ToolCallBody[] = [];
  private readonly used = new Map<string, Usage>();

  constructor(private readonly options: RunEventsOptions) {
    const { runId, isModern, shownCalls, shownAnswers } = options;
    this.own = new Lane(runId, {}, true, shownAnswers);
    this.lanes.set(runId, this.own);
    this.steps = new Steps(runId, isModern);
    this.shownCalls = new Set(shownCalls);
  }

  /** The last text of the run itself. */
  get lastText(): string {
    return this.own.lastText;
  }

  get usage(): readonly Usage[] {
    return [...this.used.values()];
  }

  /** Only an event that is no piece of a text has to be read. */
  of(logged: LoggedEvent): readonly AguiEvent[] | Promise<readonly AguiEvent[]> {
    const { piece, name } = logged;
    if (piece === undefined) return this.ofDecoded(logged);
    const plain = plainName(name);
    if (plain === 'RunContent') return [...this.lane(logged.runId).piece(piece)];
    return plain === 'ReasoningContentDelta' ? [...this.lane(logged.runId).think(piece)] : [];
  }

  /** Says what has not been said: the answer of a workflow, or one that a hook has changed. */
  *answer(content: unknown): Generator<AguiEvent> {
    yield* this.own.end();
    const text = contentText(content);
    const isSaid = typeof content === 'string' ? text === this.lastText : this.lastText !== '';
    if (text === '' || isSaid) return;
    yield* this.own.piece(text);
    yield* this.own.end();
  }

  /** Ends what is open. */
  *end(status: 'completed' | 'failed' | 'waiting' | 'cancelled'): Generator<AguiEvent> {
    for (const lane of this.lanes.values()) yield* lane.end();
    for (const [subagentRunId, state] of [...this.members].reverse()) {
      if (state === 'open') yield* this.memberOver(subagentRunId, memberEnds[status]);
    }
    yield* this.steps.endAll(status);
  }

  /** The calls that a paused run waits for, which clients of all versions see as calls without results. */
  *waiting(text: string, calls: readonly ToolCallBody[], pauses: number): Generator<AguiEvent> {
    yield* this.own.end();
    if (text !== '') {
      const messageId = `${this.options.runId}-pause-${pauses}`;
      yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' };
      yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: text };
      yield { type: 'TEXT_MESSAGE_END', messageId };
    }
    for (const call of calls) yield* this.call(this.own, call);
  }

  private async ofDecoded(logged: LoggedEvent): Promise<readonly AguiEvent[]> {
    const event = await logged.decoded();
    const name = plainName(event.event);
    const events: AguiEvent[] = [];
    if (name === 'RunStarted') events.push(...(await this.started(event)));
    else events.push(...this.plain(event, name));
    if (name === 'ToolCallCompleted') events.push(...(await this.options.stateChange()));
    if (!notRaw.has(name)) events.push(this.raw(event));
    return events;
  }

  private *plain(event: WorkflowEvent, name: string): Generator<AguiEvent> {
    // events of the wire are JSON
    const fields = fieldsOf(event) as Readonly<Record<string, Json | undefined>>;
    const lane = this.lane(event.run_id);
    for (const call of this.asked.splice(0)) yield* this.call(this.own, call);
    if (this.isStep(event)) yield* this.step(event, name, fields);
    else if (name === 'RunContent') yield* lane.piece(contentText(fields.content));
    else if (name === 'ReasoningStarted') yield* lane.startReasoning();
    else if (name === 'ReasoningStep') yield* lane.think(`${contentText(fields.reasoning_content)}\n`);
    else if (name === 'ReasoningCompleted') yield* lane.endReasoning();
    else if (name === 'ModelRequestCompleted') {
      this.count(fields);
      yield* lane.nextAnswer();
    } else if (isToolEvent(event)) yield* this.tool(lane, name, event.tool);
    else if (name === 'RunPaused' && event.run_id === this.options.runId) {
      // every event of this name has requirements: the prefix of a team hides its type
      const { requirements } = event as { requirements?: readonly RequirementBody[] };
      this.asked = requirements?.map(({ tool_execution: call }) => call) ?? [];
    } else if (name === 'CustomEvent') yield customEvent(event);
    else if (event.run_id !== this.options.runId && name in runEnds)
      yield* this.memberOver(
        event.run_id,
        runEnds[name] ?? 'success',
        contentText(fields.content ?? fields.error),
      );
  }

  /** A run within the run begins; or the model is asked again, and what it said before is void. */
  private async started(event: WorkflowEvent): Promise<readonly AguiEvent[]> {
    const { run_id: runId } = event;
    const isNew = runId !== this.options.runId && !this.members.has(runId);
    const lane = this.lane(runId);
    if (isNew) return [...this.memberStarts(event)];
    const restarted = lane.restart();
    const events: AguiEvent[] = [];
    for (let next = restarted.next(); ; next = restarted.next()) {
      if (next.done !== true) events.push(next.value);
      else if (next.value) return [...events, await this.snapshot()];
      else return events;
    }
  }

  /** The conversation as it is without what is void. */
  private async snapshot(): Promise<AguiEvent> {
    const said = [...this.lanes.values()].flatMap((lane) => [...lane.messages()]);
    return { type: 'MESSAGES_SNAPSHOT', messages: [...(await this.options.earlier()), ...said] };
  }

  private *tool(lane: Lane, name: string, tool: ToolCallBody): Generator<AguiEvent> {
    if (name === 'ToolCallStarted') yield* this.call(lane, tool);
    if (name !== 'ToolCallCompleted' || this.results.has(tool.tool_call_id)) return;
    this.results.add(tool.tool_call_id);
    yield* this.call(lane, tool);
    yield* lane.result(tool.tool_call_id, tool.result);
  }

  /** A call is shown once, however often it is announced. */
  private *call(lane: Lane, tool: ToolCallBody): Generator<AguiEvent> {
    if (this.shownCalls.has(tool.tool_call_id)) return;
    this.shownCalls.add(tool.tool_call_id);
    yield* lane.call(tool);
  }

  private *memberStarts(event: WorkflowEvent): Generator<AguiEvent> {
    const { run_id: subagentRunId } = event;
    const {
      agent_name: agent,
      team_name: team,
      agent_id: agentId,
      team_id: teamId,
      parent_run_id: parent,
    } = fieldsOf(event);
    const name = String(
      [agent, team, agentId, teamId].find((one) => typeof one === 'string') ?? subagentRunId,
    );
    this.members.set(subagentRunId, 'open');
    if (!this.options.isModern) {
      yield* this.steps.start(subagentRunId, name);
      return;
    }
    const isInner = typeof parent === 'string' && this.members.has(parent);
    yield { type: 'SUBAGENT_STARTED', subagentRunId, name, ...(isInner && { parentSubagentRunId: parent }) };
  }

  private *memberOver(
    subagentRunId: string,
    end: 'success' | 'suspended' | 'error',
    text = '',
  ): Generator<AguiEvent> {
    if (this.members.get(subagentRunId) !== 'open') return;
    yield* this.lane(subagentRunId).end();
    this.members.set(subagentRunId, 'over');
    if (!this.options.isModern) {
      const status = end === 'success' ? 'completed' : end === 'error' ? 'failed' : 'waiting';
      yield* this.steps.end(subagentRunId, status);
    } else if (end === 'error')
      yield { type: 'SUBAGENT_ERROR', subagentRunId, message: text || 'The run of the member has ended.' };
    else yield { type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: end } };
  }

  private isStep(event: WorkflowEvent): boolean {
    return 'step_id' in event && event.run_id === this.options.runId && 'workflow_id' in event;
  }

  private *step(
    event: WorkflowEvent,
    name: string,
    fields: Readonly<Record<string, Json | undefined>>,
  ): Generator<AguiEvent> {
    const key = `${String(fields.step_id)}:${JSON.stringify(fields.step_index ?? null)}`;
    if (stepStarts.has(name)) yield* this.steps.start(key, String(fields.step_name));
    else if (name === 'StepError') yield* this.steps.end(key, 'failed');
    else if (stepEnds.has(name)) yield* this.steps.end(key, 'completed');
    else if (name === 'CustomEvent') yield customEvent(event);
  }

  private lane(runId: string): Lane {
    const known = this.lanes.get(runId);
    if (known !== undefined) return known;
    const { isModern, innerFrom } = this.options;
    // without a mark of its own, what a member says would read as the answer
    const lane = new Lane(runId, isModern ? { subagentRunId: runId } : {}, isModern, innerFrom);
    this.lanes.set(runId, lane);
    return lane;
  }

  private raw(event: WorkflowEvent): AguiEvent {
    const isInner = this.options.isModern && this.members.has(event.run_id);
    return {
      type: 'RAW',
      // events of the wire are JSON
      event: event as unknown as JsonObject,
      source: 'runyard',
      ...(isInner && { subagentRunId: event.run_id }),
    };
  }

  private count(fields: Readonly<Record<string, Json | undefined>>): void {
    const provider = String(fields.model_provider ?? '');
    const model = String(fields.model ?? '');
    const key = JSON.stringify([provider, model]);
    const before = this.used.get(key);
    const total = (name: keyof Usage, field: string) =>
      Number(before?.[name] ?? 0) + Number(fields[field] ?? 0);
    this.used.set(key, {
      provider,
      model,
      inputTokens: total('inputTokens', 'input_tokens'),
      outputTokens: total('outputTokens', 'output_tokens'),
      totalTokens: total('totalTokens', 'total_tokens'),
      reasoningTokens: total('reasoningTokens', 'reasoning_tokens'),
      cachedInputTokens: total('cachedInputTokens', 'cache_read_tokens'),
      cacheWriteInputTokens: total('cacheWriteInputTokens', 'cache_write_tokens'),
    });
  }
}

type ToolEvent = Extract<WorkflowEvent, { readonly tool: ToolCallBody; readonly event: string }>;

function isToolEvent(event: WorkflowEvent): event is ToolEvent {
  return event.event !== 'CustomEvent' && 'tool' in event;
}

const groups = ['Steps', 'Parallel', 'Condition', 'Loop', 'Router'];
const stepStarts = new Set([
  'StepStarted',
  'StepContinued',
  ...groups.map((group) => `${group}ExecutionStarted`),
]);
const stepEnds = new Set(['StepCompleted', ...groups.map((group) => `${group}ExecutionCompleted`)]);

const runEnds: Readonly<Record<string, 'success' | 'suspended' | 'error'>> = {
  RunCompleted: 'success',
  RunPaused: 'suspended',
  RunError: 'error',
  RunCancelled: 'error',
};

const memberEnds = {
  completed: 'success',
  waiting: 'suspended',
  failed: 'error',
  cancelled: 'error',
} as const;

const envelope = new Set([
  ...['event', 'created_at', 'run_id', 'session_id', 'nested_depth', 'event_index', 'agent_id', 'agent_name'],
  ...['team_id', 'team_name', 'workflow_id', 'workflow_name', 'parent_run_id', 'workflow_run_id'],
]);

/** An event of the application, by the name that it gives itself. */
function customEvent(event: WorkflowEvent): AguiEvent {
  // events of the wire are JSON
  const entries = Object.entries(event) as [string, Json][];
  const value = Object.fromEntries(entries.filter(([name]) => !envelope.has(name)));
  const name = typeof value.name === 'string' && value.name !== '' ? value.name : 'CustomEvent';
  return { type: 'CUSTOM', name, value };
}

/** The events of a team have those of an agent in their names. */
function plainName(name: string): string {
  return name.startsWith('Team') ? name.slice('Team'.length) : name;
}
