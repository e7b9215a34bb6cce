import type { Kind, Kinds, ToolCallBody } from '@runyard/client';
import { openIn } from '../pause/requirement.js';
import {
  citationsIn,
  endingIn,
  mediaIn,
  metricsIn,
  objectIn,
  objectsIn,
  referencesIn,
  textIn,
  textsIn,
} from './read-fields.js';
import type { Fields, Part, Pause, RunStatus, RunView } from './run-view.js';
import { StepFolds } from './step-fold.js';

export type AnyEvent = Kinds[Kind]['event'];

/** An event whose name says nothing about teams: `TeamRunContent` is `RunContent`. */
interface PlainEvent extends Fields {
  readonly event: string;
}

/** Makes a view of a run from its events, one after the other. What did not change stays the same object. */
export class RunFold {
  readonly runId: string;
  readonly kind: Kind;
  readonly #name: string;
  readonly #changed: () => void;
  readonly #parts: (Part | RunFold)[] = [];
  readonly #runs = new Map<string, RunFold>();
  readonly #steps: StepFolds;
  #view: RunView | undefined;
  #status: RunStatus = 'pending';
  #more: Partial<RunView> = {};
  #ids = 0;
  /** Where the model call in progress began: a call that is repeated begins there again. */
  #callBegan: number | undefined;
  /** Whether the next text belongs to another model call. */
  #isTextClosed = true;

  constructor(runId: string, kind: Kind, name: string, changed: () => void = () => {}) {
    this.runId = runId;
    this.kind = kind;
    this.#name = name;
    this.#changed = () => {
      this.#view = undefined;
      changed();
    };
    this.#steps = new StepFolds(this.#changed);
  }

  view(): RunView {
    this.#view ??= {
      runId: this.runId,
      kind: this.kind,
      name: this.#name,
      status: this.#status,
      parts: this.#partViews(),
      ...this.#more,
    };
    return this.#view;
  }

  get status(): RunStatus {
    return this.#status;
  }

  /** What became of it, if that is known from elsewhere than its events. */
  end(status: RunStatus): void {
    this.#status = status;
    this.#settle();
    this.#changed();
  }

  add(event: AnyEvent): void {
    const fields: Fields = { ...event };
    if (event.run_id === this.runId) this.#own(fields);
    else this.#nested(event.run_id, event, fields);
  }

  #partViews(): Part[] {
    const parts = this.#parts.map(
      (part): Part => (part instanceof RunFold ? { type: 'member', id: part.runId, run: part.view() } : part),
    );
    const steps = this.#steps.views().map((step): Part => ({ type: 'step', id: step.id, step }));
    return [...steps, ...parts];
  }

  #nested(runId: string, event: AnyEvent, fields: Fields): void {
    const parentId = textIn(fields.parent_run_id);
    // the agent in front of a workflow speaks for it
    if (fields.workflow_agent === true && fields.event === 'RunContent') {
      this.#own(fields);
      return;
    }
    const known = this.#runs.get(runId);
    if (known) {
      known.add(event);
      return;
    }
    const parent = parentId === undefined ? undefined : this.#runs.get(parentId);
    const nested = parent ? parent.#begin(runId, fields) : this.#begin(runId, fields);
    this.#runs.set(runId, nested);
    nested.add(event);
  }

  #begin(runId: string, fields: Fields): RunFold {
    const kind = fields.team_id !== undefined ? 'team' : fields.agent_id !== undefined ? 'agent' : 'workflow';
    const name = textIn(fields[`${kind}_name`]) ?? textIn(fields[`${kind}_id`]) ?? kind;
    const nested = new RunFold(runId, kind, name, this.#changed);
    const stepId = textIn(fields.step_id);
    if (this.kind !== 'workflow' || stepId === undefined || !this.#steps.addRun(stepId, nested)) {
      this.#isTextClosed = true;
      this.#parts.push(nested);
    }
    return nested;
  }

  #own(fields: Fields): void {
    const name = String(fields.event).replace(/^Team(?=[A-Z])/, '');
    this.#changed();
    if (this.#steps.add({ ...fields, event: name })) return;
    const handle = handlers[name];
    if (handle) handle.call(this, { ...fields, event: name });
  }

  /** Used by the handlers below. */
  readonly write = {
    text: (text: string, isWhole: boolean) => this.#addText(text, isWhole),
    data: (value: unknown) => {
      this.#drop((part) => part.type === 'data');
      this.#push({ type: 'data', value });
    },
    reasoning: (title: string, text: string, step?: Fields) => this.#addReasoning(title, text, step),
    tool: (call: ToolCallBody, change: Partial<Extract<Part, { type: 'tool' }>>) =>
      this.#setTool(call, change),
    note: (text: string, data?: unknown) => this.#push({ type: 'note', text, data }),
    more: (more: Partial<RunView>) => {
      this.#more = { ...this.#more, ...more };
    },
    status: (status: RunStatus) => {
      // the last event of a cancelled run says that it completed
      if (this.#status === 'cancelled' && status === 'completed') return;
      this.#status = status;
    },
    settle: () => this.#settle(),
    callBegins: () => {
      this.#isTextClosed = true;
      this.#callBegan = this.#parts.length;
    },
    callEnds: () => {
      this.#callBegan = undefined;
      this.#settle();
    },
    startsAgain: () => {
      if (this.#callBegan !== undefined) this.#parts.length = this.#callBegan;
      this.#isTextClosed = true;
    },
    hasAnswer: () =>
      this.#parts.some((part) => !(part instanceof RunFold) && ['text', 'data'].includes(part.type)),
  };

  #push(part: DistributiveOmit<Part, 'id'>): void {
    this.#ids += 1;
    this.#parts.push({ ...part, id: String(this.#ids) });
    this.#isTextClosed = true;
  }

  #addText(text: string, isWhole: boolean): void {
    if (isWhole) this.#drop((part) => part.type === 'text');
    const last = this.#parts.at(-1);
    if (text === '') return;
    if (this.#isTextClosed || last === undefined || last instanceof RunFold || last.type !== 'text') {
      this.#settle();
      this.#push({ type: 'text', text });
      this.#isTextClosed = false;
    } else this.#parts[this.#parts.length - 1] = { ...last, text: last.text + text };
  }

  #addReasoning(title: string, text: string, step: Fields | undefined): void {
    const last = this.#parts.at(-1);
    const steps = step === undefined ? [] : [step];
    if (last !== undefined && !(last instanceof RunFold) && last.type === 'reasoning' && last.isLive)
      this.#parts[this.#parts.length - 1] = {
        ...last,
        text: last.text + text,
        steps: [...last.steps, ...steps],
      };
    else this.#push({ type: 'reasoning', title, text, steps, isLive: true });
  }

  #setTool(call: ToolCallBody, change: Partial<Extract<Part, { type: 'tool' }>>): void {
    const at = this.#parts.findLastIndex(
      (part) =>
        !(part instanceof RunFold) && part.type === 'tool' && part.call.tool_call_id === call.tool_call_id,
    );
    const known = this.#parts[at];
    if (known === undefined || known instanceof RunFold || known.type !== 'tool')
      this.#push({ type: 'tool', call, error: undefined, media: undefined, isLive: false, ...change });
    else this.#parts[at] = { ...known, call, ...change };
  }

  #drop(unwanted: (part: Part) => boolean): void {
    const kept = this.#parts.filter((part) => part instanceof RunFold || !unwanted(part));
    this.#parts.splice(0, this.#parts.length, ...kept);
  }

  /** Nothing is in progress any longer. */
  #settle(): void {
    this.#parts.forEach((part, at) => {
      if (part instanceof RunFold) {
        if (!this.isRunning()) part.stopWith(this.#status);
      } else if (part.type === 'reasoning' && part.isLive) this.#parts[at] = { ...part, isLive: false };
      else if (part.type === 'tool' && part.isLive && !this.isRunning())
        this.#parts[at] = { ...part, isLive: false };
    });
    if (!this.isRunning()) this.#steps.stopWith(this.#status);
  }

  isRunning(): boolean {
    return this.#status === 'running' || this.#status === 'pending';
  }

  /** A run around it has ended. */
  stopWith(status: RunStatus): void {
    if (this.isRunning() && status !== 'paused') this.end(status);
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

type Handler = (this: RunFold, event: PlainEvent) => void;

const handlers: Readonly<Record<string, Handler>> = {
  RunStarted(event) {
    this.write.startsAgain();
    this.write.status('running');
    this.write.more({ model: textIn(event.model), pause: undefined });
  },
  RunContinued() {
    this.write.status('running');
    this.write.more({ pause: undefined, error: undefined });
  },
  ModelRequestStarted() {
    this.write.callBegins();
  },
  ModelRequestCompleted() {
    this.write.callEnds();
  },
  RunContent({ content, rebuilt, references }) {
    if (references !== undefined) this.write.more({ references: referencesIn(references) });
    if (typeof content === 'string') this.write.text(content, rebuilt === true);
    else if (content !== null && content !== undefined) this.write.data(content);
  },
  RunIntermediateContent({ content }) {
    this.write.reasoning('Draft', String(content));
  },
  ReasoningStarted() {
    this.write.reasoning('Reasoning', '');
  },
  ReasoningContentDelta({ reasoning_content }) {
    this.write.reasoning('Reasoning', textIn(reasoning_content) ?? '');
  },
  ReasoningStep({ content }) {
    this.write.reasoning('Reasoning', '', objectIn(content));
  },
  ReasoningCompleted() {
    this.write.settle();
  },
  ToolCallStarted({ tool }) {
    this.write.settle();
    this.write.tool(toolIn(tool), { isLive: true });
  },
  ToolCallCompleted({ tool, ...media }) {
    this.write.tool(toolIn(tool), { isLive: false, media: mediaIn(media) });
  },
  ToolCallError({ tool, error }) {
    this.write.tool(toolIn(tool), { isLive: false, error: textIn(error) });
  },
  CustomEvent({ event: _event, created_at, run_id, session_id, nested_depth, event_index, ...data }) {
    this.write.note('Event of the application', data);
  },
  CompressionCompleted({ tool_results_compressed: count }) {
    this.write.note(`${String(count)} earlier tool results were shortened`);
  },
  MemoryUpdateCompleted({ memories }) {
    const count = objectsIn(memories).length;
    this.write.note(count === 1 ? 'Memory updated: 1 memory' : `Memory updated: ${count} memories`);
  },
  TaskCreated({ title, assignee }) {
    this.write.note(`Task created: ${String(title)}${assignee ? ` (${String(assignee)})` : ''}`);
  },
  TaskUpdated({ title, status }) {
    this.write.note(`Task ${String(status).replace('_', ' ')}: ${String(title)}`);
  },
  FollowupsCompleted({ followups }) {
    this.write.more({ followups: textsIn(followups) });
  },
  RunPaused({ requirements }) {
    this.write.status('paused');
    this.write.settle();
    // the last event of a paused run has them
    this.write.more({
      // in the words of the client's types
      pause: { ...noPause, requirements: objectsIn(requirements) as Pause['requirements'] },
    });
  },
  RunCancelled() {
    this.write.status('cancelled');
  },
  RunError({ content, error_type }) {
    this.write.status('error');
    this.write.settle();
    this.write.more({ error: { text: textIn(content) ?? 'The run failed.', type: textIn(error_type) } });
  },
  RunCompleted(event) {
    completed.call(this, event);
  },
  WorkflowStarted() {
    this.write.status('running');
    this.write.more({ pause: undefined });
  },
  WorkflowCompleted(event) {
    completed.call(this, event);
  },
  WorkflowCancelled() {
    this.write.status('cancelled');
    this.write.settle();
  },
  WorkflowError({ error, error_type }) {
    this.write.status('error');
    this.write.settle();
    this.write.more({ error: { text: textIn(error) ?? 'The workflow failed.', type: textIn(error_type) } });
  },
  WorkflowPaused(event) {
    this.write.status('paused');
    this.write.settle();
    this.write.more({ pause: workflowPause(event) });
  },
};

const completed: Handler = function (this: RunFold, event) {
  const { content, references, citations, followups, finish_reason, finish_message, metrics } = event;
  this.write.status('completed');
  this.write.settle();
  if (!this.write.hasAnswer()) {
    if (typeof content === 'string') this.write.text(content, true);
    else if (content !== null && content !== undefined) this.write.data(content);
  }
  const found = referencesIn(references);
  const named = textsIn(followups);
  this.write.more({
    pause: undefined,
    metrics: metricsIn(metrics),
    citations: citationsIn(citations),
    media: mediaIn(event),
    ending: endingIn(finish_reason, finish_message),
    ...(found && { references: found }),
    ...(named && { followups: named }),
  });
};

export const noPause: Pause = { requirements: [], steps: [], errors: [], waitingFor: [] };

/** What a workflow waits for; those that were answered before are in the same lists. */
export function workflowPause(fields: Fields): Pause {
  // events and bodies of workflows have these lists in the words of the client's types
  const steps = objectsIn(fields.step_requirements) as unknown as Pause['steps'];
  // the same
  const errors = objectsIn(fields.error_requirements) as unknown as Pause['errors'];
  return {
    requirements: [],
    steps: steps.filter(isOpenStep),
    errors: errors.filter(({ decision }) => decision === null || decision === undefined),
    waitingFor: objectsIn(fields.waiting_for),
  };
}

function isOpenStep(step: Pause['steps'][number]): boolean {
  const { confirmed, user_input: input, selected_choices: selected } = step;
  if (step.requires_executor_input) return openIn(step).length > 0;
  return (confirmed ?? null) === null && (input ?? null) === null && (selected ?? null) === null;
}

function toolIn(tool: unknown): ToolCallBody {
  // the events of tool calls have this field
  return tool as ToolCallBody;
}
