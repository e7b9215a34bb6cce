import { runContent, runStarted } from '../agents/agent-events.js';
import type { PieceEvent, RunEvent } from '../events/run-event.js';
import type { Json, JsonObject } from '../json.js';
import type { RunContext } from '../runs/context.js';
import { teamPrefix } from '../runs/events/event-origin.js';
import { workflowStarted } from '../workflows/workflow-events.js';
import { textIn } from './remote-body.js';
import type { RemoteEvent, RemoteRef } from './remote-service.js';

/** What the local run says itself about its start, its pauses and its end. */
const ownWords: ReadonlySet<string> = new Set([
  'RunStarted',
  'RunContinued',
  'RunContentCompleted',
  'RunPaused',
  'RunCompleted',
  'RunCancelled',
  'RunError',
  'WorkflowStarted',
  'WorkflowPaused',
  'WorkflowRunOutput',
  'WorkflowCompleted',
  'WorkflowCancelled',
  'WorkflowError',
]);

const starts: ReadonlySet<string> = new Set(['RunStarted', 'WorkflowStarted']);

/** Events that are passed on. One that only a later version knows is left out: nobody here could read it. */
const known: ReadonlySet<string> = new Set([
  ...ownWords,
  ...['PreHook', 'PostHook', 'Reasoning', 'ModelRequest', 'ToolCall', 'Compression', 'Followups'].flatMap(
    phases,
  ),
  ...['ParserModelResponse', 'OutputModelResponse', 'MemoryUpdate', 'SessionSummary', 'Step'].flatMap(phases),
  ...['StepsExecution', 'LoopExecution', 'LoopIteration', 'ParallelExecution'].flatMap(phases),
  ...['ConditionExecution', 'RouterExecution', 'WorkflowAgent', 'TaskIteration'].flatMap(phases),
  ...['RunContent', 'RunIntermediateContent', 'ReasoningStep', 'ReasoningContentDelta', 'ToolCallError'],
  ...['TaskCreated', 'TaskUpdated', 'TaskStateUpdated', 'CustomEvent', 'StepOutput', 'StepError'],
  ...['StepPaused', 'RouterPaused', 'StepOutputReview', 'StepExecutorPaused', 'StepContinued'],
  'StepExecutorContinued',
]);

function phases(name: string): string[] {
  return [`${name}Started`, `${name}Completed`];
}

/** What every event says about itself: the local log says it anew. */
const headFields = ['event', 'created_at', 'event_index', 'run_id', 'session_id', 'nested_depth', 'rebuilt'];
const ownerFields = ['agent_id', 'agent_name', 'team_id', 'team_name', 'workflow_id', 'workflow_name'];
const aroundFields = ['parent_run_id', 'workflow_run_id'];
const dropped: ReadonlySet<string> = new Set([...headFields, ...ownerFields, ...aroundFields]);

/** Passes the events of a remote run on as those of the local one, and those of the runs inside it as theirs. */
export class RemoteEvents {
  private readonly inside = new Map<string, RunContext>();
  private readonly piece: PieceEvent = runContent('', 'str');
  private speaking = false;
  private restarts = 0;

  constructor(
    private readonly context: RunContext,
    private readonly ref: RemoteRef,
    /** The step that the events are about. */
    private readonly key: string,
  ) {}

  heard({ name, index, fields }: RemoteEvent): Promise<void> | undefined {
    const isTeam = name.startsWith(teamPrefix);
    const bare = isTeam ? name.slice(teamPrefix.length) : name;
    const runId = textIn(fields.run_id);
    if (runId === undefined || !known.has(bare)) return undefined;
    const isOwn = runId === this.ref.runId;
    if (isOwn && starts.has(bare)) this.startAgain();
    if (isOwn && ownWords.has(bare)) return undefined;
    const { context } = this;
    if (isOwn && bare === 'RunContent' && typeof fields.content === 'string') this.say(fields.content);
    else {
      const target = isOwn ? context : this.contextOf(runId, fields, isTeam);
      target.emit(eventOf(bare, fields), `${this.key}:${index ?? 'unnumbered'}`);
    }
    return context.congestion();
  }

  /** The remote run is executed again, after a crash or a failed attempt there: what was said of its answer is void. */
  private startAgain(): void {
    if (!this.speaking) return;
    const { context } = this;
    const { kind, model, modelProvider } = context.run;
    const named = { id: model ?? '', provider: modelProvider ?? '' };
    this.restarts += 1;
    const event = kind === 'workflow' ? workflowStarted(true) : runStarted(named, true);
    context.emit(event, `${this.key}:restart:${this.restarts}`);
    context.draft.content = '';
    this.speaking = false;
  }

  private say(text: string): void {
    // the first piece says that an answer begins
    if (!this.speaking) this.context.emitDelta(this.piece, '');
    this.speaking = true;
    if (text !== '') this.context.emitDelta(this.piece, text);
    this.context.draft.content += text;
  }

  /** The runs inside a remote run have no steps here: only their events are shown. */
  private contextOf(runId: string, fields: JsonObject, isTeam: boolean): RunContext {
    const known = this.inside.get(runId);
    if (known !== undefined) return known;
    const { context } = this;
    const depth = context.depth + Math.max(Number(fields.nested_depth) || 0, 1);
    const child = context.child({
      key: `${this.key}:${runId}`,
      run: { ...context.run, runId },
      entry: context.entry,
      origin: {
        runId,
        fields: this.translated(pick(fields, [...ownerFields, ...aroundFields])),
        ...(isTeam && { prefix: teamPrefix }),
        depth,
      },
    });
    this.inside.set(runId, child);
    return child;
  }

  /** What names the remote run names the local one. */
  private translated(fields: JsonObject): JsonObject {
    const { runId, kind, componentId } = this.context.run;
    return Object.fromEntries(
      Object.entries(fields).map(([name, value]) => {
        if (kind === 'workflow' && name === 'workflow_id') return [name, componentId];
        return [name, value === this.ref.runId ? runId : value];
      }),
    );
  }
}

function eventOf(name: string, fields: JsonObject): RunEvent {
  const rest: Record<string, Json> = {};
  for (const [field, value] of Object.entries(fields)) if (!dropped.has(field)) rest[field] = value;
  // an event of the wire, whose names and fields the tables of events describe
  return { ...rest, event: name } as unknown as RunEvent;
}

function pick(fields: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = fields[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
