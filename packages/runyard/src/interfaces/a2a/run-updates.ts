import type { WorkflowEvent } from '../../core/events/run-event.js';
import type { Json, JsonObject } from '../../core/json.js';
import { fieldsOf } from '../../core/objects.js';
import type { LoggedEvent } from '../../core/runs/events/logged-event.js';
import { answerArtifact, type Task, type TaskUpdate } from './task.js';

/** What the events that clients receive are called, and which of their fields go with them. */
const updateNames: ReadonlyMap<string, string> = new Map([
  ['ToolCallStarted', 'tool_call_started'],
  ['ToolCallCompleted', 'tool_call_completed'],
  ['ToolCallError', 'tool_call_error'],
  ['ReasoningStarted', 'reasoning_started'],
  ['ReasoningCompleted', 'reasoning_completed'],
  ['MemoryUpdateStarted', 'memory_update_started'],
  ['MemoryUpdateCompleted', 'memory_update_completed'],
  ['StepStarted', 'workflow_step_started'],
  ['StepCompleted', 'workflow_step_completed'],
  ['StepError', 'workflow_step_error'],
  ['LoopExecutionStarted', 'loop_execution_started'],
  ['LoopIterationStarted', 'loop_iteration_started'],
  ['LoopIterationCompleted', 'loop_iteration_completed'],
  ['LoopExecutionCompleted', 'loop_execution_completed'],
  ['ParallelExecutionStarted', 'parallel_execution_started'],
  ['ParallelExecutionCompleted', 'parallel_execution_completed'],
  ['ConditionExecutionStarted', 'condition_execution_started'],
  ['ConditionExecutionCompleted', 'condition_execution_completed'],
  ['RouterExecutionStarted', 'router_execution_started'],
  ['RouterExecutionCompleted', 'router_execution_completed'],
  ['StepsExecutionStarted', 'steps_execution_started'],
  ['StepsExecutionCompleted', 'steps_execution_completed'],
]);

const sentFields = [
  'step_name',
  'error',
  'iteration',
  'max_iterations',
  'total_iterations',
  'should_continue',
  'parallel_step_count',
  'condition_result',
  'branch',
  'selected_steps',
  'steps_count',
  'executed_steps',
] as const;

/** The last events of a run, or of its life before a pause: what they say is in the task that follows. */
const starts = new Set(['RunStarted', 'RunContinued', 'WorkflowStarted']);

/**
 * Turns the events of a run, in their order, into updates of its task. The task keeps the id of the run: what happens
 * in members and steps happens in the task.
 */
export class RunUpdates {
  private answer = '';
  /** Runs whose next piece of text begins a text. */
  private readonly fresh = new Set<string>();
  private readonly names = new Map<string, string>();

  constructor(private readonly runId: string) {}

  /** Only an event that is no piece of a text has to be read. */
  of(logged: LoggedEvent): TaskUpdate[] | Promise<TaskUpdate[]> {
    const { piece } = logged;
    if (piece === undefined) return this.ofDecoded(logged);
    return plainName(logged.name) === 'RunContent' ? this.text(logged.runId, piece, logged) : [];
  }

  /** Whether the texts so far are the whole answer of a task. */
  isStreamed({ answer }: Task): boolean {
    const [only, ...more] = answer?.parts ?? [];
    return only !== undefined && more.length === 0 && 'text' in only && only.text === this.answer;
  }

  private async ofDecoded(logged: LoggedEvent): Promise<TaskUpdate[]> {
    const event = await logged.decoded();
    const name = plainName(event.event);
    const timestamp = new Date(event.created_at * 1000).toISOString();
    if (name === 'RunContent') {
      const { content } = fieldsOf(event);
      this.fresh.add(event.run_id);
      return this.text(event.run_id, contentText(content), logged);
    }
    if (event.event === 'ReasoningStep' || event.event === 'TeamReasoningStep')
      return [{ type: 'reasoning', text: event.reasoning_content, step: event.content_type }];
    if (starts.has(name)) return event.run_id === this.runId ? [{ type: 'working', timestamp }] : [];
    if (event.event === 'CustomEvent')
      return [{ type: 'working', timestamp, event: 'custom_event', fields: customFields(event) }];
    const called = updateNames.get(name);
    return called === undefined
      ? []
      : [{ type: 'working', timestamp, event: called, fields: fieldsIn(event) }];
  }

  /** Each answer begins with an empty piece, also when it is given once more after a crash. */
  private text(runId: string, text: string, logged: LoggedEvent): TaskUpdate[] {
    if (text === '') {
      this.fresh.add(runId);
      if (runId === this.runId) this.answer = '';
      return [];
    }
    const isOwn = runId === this.runId;
    const isFirst = this.fresh.delete(runId);
    if (isOwn) this.answer = isFirst ? text : this.answer + text;
    const source = isOwn ? answerArtifact : { artifactId: runId, name: this.nameOf(runId, logged) };
    return [{ type: 'text', text, source, isFirst }];
  }

  private nameOf(runId: string, { data }: LoggedEvent): string {
    const known = this.names.get(runId);
    if (known !== undefined) return known;
    const {
      agent_name: agent,
      team_name: team,
      agent_id: agentId,
      team_id: teamId,
    } = fieldsOf(JSON.parse(data));
    const name = [agent, team, agentId, teamId].find((one) => typeof one === 'string');
    this.names.set(runId, String(name ?? runId));
    return String(name ?? runId);
  }
}

/** The events of a team have those of an agent in their names. */
function plainName(name: string): string {
  return name.startsWith('Team') ? name.slice('Team'.length) : name;
}

function contentText(content: unknown): string {
  return typeof content === 'string' ? content : content === undefined ? '' : JSON.stringify(content);
}

function fieldsIn(event: WorkflowEvent): JsonObject {
  // events of the wire are JSON
  const given = fieldsOf(event) as Readonly<Record<string, Json | undefined>>;
  const fields: JsonObject = {};
  for (const name of sentFields) if (given[name] !== undefined) fields[name] = given[name];
  if ('tool' in event) {
    const { tool_name: toolName, tool_call_id: callId, tool_args: args } = fieldsOf(event.tool);
    fields.tool_name = String(toolName);
    fields.tool_call_id = String(callId);
    fields.tool_args = JSON.stringify(args ?? {});
  }
  return fields;
}

const envelope = new Set(['event', 'created_at', 'run_id', 'session_id', 'nested_depth', 'event_index']);

function customFields(event: WorkflowEvent): JsonObject {
  // events of the wire are JSON
  const entries = Object.entries(event) as [string, Json][];
  return Object.fromEntries(entries.filter(([name]) => !envelope.has(name)));
}
