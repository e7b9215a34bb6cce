import { createHash } from 'node:crypto';
import { textOf } from '../../agents/answer/answer-record.js';
import { modelRecord, toolRecord } from '../../agents/journal-records.js';
import { memberKeyOf } from '../../agents/tool-executions.js';
import { type TaskStatus, taskStatuses } from '../../events/task-event.js';
import type { JsonObject } from '../../json.js';
import type { RunContext } from '../../runs/context.js';
import { read } from '../../runs/journal/codec.js';
import { childOutcome } from '../../runs/journal/records.js';
import type { StepRecord } from '../../runs/run.js';
import { parseArguments } from '../../tools/call/parse-arguments.js';

export interface TeamTask {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly assignee: string | null;
  /** Ids of the tasks that have to be completed before it. */
  readonly dependencies: readonly string[];
  readonly status: TaskStatus;
  readonly result: string | null;
  readonly notes: readonly string[];
}

export interface TaskList {
  readonly tasks: readonly TeamTask[];
  /** The leader has said that all is done. */
  readonly goalComplete: boolean;
  readonly completionSummary: string | null;
}

/** Where the steps of the run are found. */
type Journal = Pick<RunContext, 'recorded'>;

/** The list as the turns that are over left it: their calls do not change. */
interface KeptList {
  readonly list: Fold;
  /** The first turn that is not in it. */
  turn: number;
}

const kept = new WeakMap<Journal, KeptList>();

/**
 * The tasks of a run, as the calls of its leader made them: there is no list beside the journal. For the call with the
 * key `before` it is the list as that call finds it: what calls beside it are about to do is being done. What came of
 * turns that are over is folded once in an execution, however often it is asked for.
 */
export function tasksOf(journal: Journal, before?: string): TaskList {
  const known = keptList(journal);
  const list = known.list.copy(before !== undefined);
  for (let turn = known.turn; ; turn += 1) {
    const calls = callsOfTurn(journal, turn);
    if (calls === undefined) return list.result();
    for (const call of calls) {
      if (call.key === before) return list.result();
      if (isEffective(call)) list.apply(call);
    }
  }
}

function keptList(journal: Journal): KeptList {
  const known = kept.get(journal) ?? { list: new Fold(journal), turn: 0 };
  kept.set(journal, known);
  // a turn is over when the model was called again
  while (callsOfTurn(journal, known.turn + 1) !== undefined) {
    for (const call of callsOfTurn(journal, known.turn) ?? []) if (isEffective(call)) known.list.apply(call);
    known.turn += 1;
  }
  return known;
}

/** One call of the leader. */
interface Call {
  readonly key: string;
  readonly name: string;
  readonly args: JsonObject;
  readonly step: StepRecord | undefined;
}

/** Whether the leader has called a tool from a turn on. */
export function hasCalledSince(journal: Journal, turn: number): boolean {
  const calls = callsOfTurn(journal, turn);
  return calls !== undefined && (calls.length > 0 || hasCalledSince(journal, turn + 1));
}

/** The calls that the model asked for in a turn, in its order; undefined when there was no such turn. */
function callsOfTurn(journal: Journal, turn: number): Call[] | undefined {
  const model = journal.recorded(`model:${turn}`);
  if (model?.status !== 'completed') return undefined;
  return (read(model, modelRecord).toolCalls ?? []).map((call, position) => {
    const key = `tool:${turn}:${position}`;
    const step = journal.recorded(key);
    return { key, name: call.name, args: argumentsOf(call.arguments, step), step };
  });
}

/** As the tool took them; while it is running, as the model wrote them. */
function argumentsOf(written: string, step: StepRecord | undefined): JsonObject {
  const record = step?.status === 'completed' ? read(step, toolRecord) : undefined;
  if (record?.args) return record.args;
  const parsed = parseArguments(written);
  return parsed.ok ? parsed.args : {};
}

type EffectiveCall = Call & { readonly step: StepRecord };

function isEffective(call: Call): call is EffectiveCall {
  const { step } = call;
  if (step === undefined || step.status === 'error') return false;
  return step.status === 'running' || !read(step, toolRecord).error;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type Entry = Mutable<Omit<TeamTask, 'notes'>> & { notes: string[] };

class Fold {
  private readonly tasks: Entry[] = [];
  private readonly byId = new Map<string, Entry>();
  private readonly byTitle = new Map<string, Entry>();
  private completionSummary: string | null = null;
  private goalComplete = false;

  constructor(
    private readonly journal: Journal,
    private readonly anticipates = false,
  ) {}

  /** The same to continue from. */
  copy(anticipates: boolean): Fold {
    const copy = new Fold(this.journal, anticipates);
    for (const task of this.tasks) copy.keep({ ...task, notes: [...task.notes] });
    copy.completionSummary = this.completionSummary;
    copy.goalComplete = this.goalComplete;
    return copy;
  }

  apply(call: EffectiveCall): void {
    const { name, args, key } = call;
    if (name === 'create_task') this.create(key, args);
    else if (name === 'execute_task') this.execute(args.task_id, memberKeyOf(key), call.step);
    else if (name === 'execute_tasks_parallel')
      for (const [position, id] of texts(args.task_ids).entries())
        this.execute(id, `${memberKeyOf(key)}:${position}`, call.step);
    else if (name === 'update_task_status') this.update(args);
    else if (name === 'add_task_note') this.find(args.task_id)?.notes.push(text(args.note));
    else if (name === 'mark_all_complete') {
      this.goalComplete = true;
      this.completionSummary = text(args.summary) || null;
    }
  }

  result(): TaskList {
    const { goalComplete, completionSummary } = this;
    const tasks = this.tasks.map((task) => ({ ...task, status: this.shownStatus(task) }));
    return { tasks, goalComplete, completionSummary };
  }

  private create(key: string, args: JsonObject): void {
    const title = text(args.title).trim();
    if (title === '' || this.byTitle.has(titleKey(title))) return;
    this.keep({
      id: taskIdOf(key, title),
      title,
      description: text(args.description),
      assignee: text(args.assignee) || null,
      dependencies: texts(args.depends_on).flatMap((named) => this.find(named)?.id ?? []),
      status: 'pending',
      result: null,
      notes: [],
    });
  }

  private keep(task: Entry): void {
    this.tasks.push(task);
    this.byId.set(task.id, task);
    this.byTitle.set(titleKey(task.title), task);
  }

  /** The result of a task is that of its member, the last one's if there were several. */
  private execute(taskId: unknown, memberKey: string, call: StepRecord): void {
    const task = this.find(taskId);
    const member = this.journal.recorded(memberKey);
    const isComing = this.anticipates && call.status === 'running';
    if (task === undefined || (member === undefined && !isComing)) return;
    task.status = 'in_progress';
    task.assignee ??= member?.name ?? null;
    if (member?.status !== 'completed') return;
    const { status, result } = read(member, childOutcome);
    task.status = status === 'completed' ? 'completed' : 'failed';
    task.result = textOf(result.content);
  }

  private update({ task_id, status, result }: JsonObject): void {
    const task = this.find(task_id);
    if (task === undefined) return;
    task.status = taskStatuses.find((known) => known === status) ?? task.status;
    task.result = text(result) || task.result;
  }

  /** A task waits as long as something before it is not completed, and not a moment longer. */
  private shownStatus({ status, dependencies }: Entry): TaskStatus {
    if (status !== 'pending') return status;
    return dependencies.every((id) => this.find(id)?.status === 'completed') ? 'pending' : 'blocked';
  }

  private find(named: unknown): Entry | undefined {
    return this.byId.get(text(named)) ?? this.byTitle.get(titleKey(text(named)));
  }
}

/** The task that the leader means: by its id, or by its title. */
export function taskNamed<Task extends { id: string; title: string }>(
  tasks: readonly Task[],
  named: string,
): Task | undefined {
  return (
    tasks.find(({ id }) => id === named) ?? tasks.find(({ title }) => titleKey(title) === titleKey(named))
  );
}

function titleKey(title: string): string {
  return title.trim().toLowerCase();
}

/** The same whenever the run is executed again, and in a copy of it. */
export function taskIdOf(callKey: string, title: string): string {
  return createHash('sha256').update(`${callKey}\n${title}`).digest('hex').slice(0, 8);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(text) : [];
}
