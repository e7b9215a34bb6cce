import { createHash } from 'node:crypto';
import { textOf } from '../../agents/answer/answer-record.js';
import type { ModelRecord, ToolRecord } from '../../agents/journal-records.js';
import { memberKeyOf } from '../../agents/tool-executions.js';
import type { JsonObject } from '../../json.js';
import type { ChildOutcome } from '../../runs/child-run.js';
import type { StepRecord } from '../../runs/run.js';
import { parseArguments } from '../../tools/parse-arguments.js';

export const taskStatuses = ['pending', 'in_progress', 'completed', 'failed', 'blocked'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

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

/**
 * The tasks of a run, as the calls of its leader made them: there is no list beside the journal. For the call with the
 * key `before` it is the list as that call finds it: what calls beside it are about to do is being done.
 */
export function tasksOf(steps: readonly StepRecord[], before?: string): TaskList {
  const list = new Fold(new Map(steps.map((step) => [step.key, step])), before !== undefined);
  for (const call of callsOf(steps)) {
    if (call.key === before) break;
    if (isEffective(call.step)) list.apply(call);
  }
  return list.result();
}

/** One call of the leader. */
interface Call {
  readonly key: string;
  readonly turn: number;
  readonly name: string;
  readonly args: JsonObject;
  readonly step: StepRecord | undefined;
}

/** Names of the leader's calls from a turn on. */
export function callNamesSince(steps: readonly StepRecord[], turn: number): readonly string[] {
  return callsOf(steps)
    .filter((call) => call.turn >= turn)
    .map(({ name }) => name);
}

/** All calls of the leader, in the order in which the model asked for them. */
function callsOf(steps: readonly StepRecord[]): Call[] {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  return steps
    .filter(({ kind, status }) => kind === 'model' && status === 'completed')
    .map((model) => ({ turn: Number(model.key.split(':')[1]), record: model.output as ModelRecord }))
    .sort((left, right) => left.turn - right.turn)
    .flatMap(({ turn, record }) =>
      (record.toolCalls ?? []).map((call, position) => {
        const key = `tool:${turn}:${position}`;
        const step = byKey.get(key);
        return { key, turn, name: call.name, args: argumentsOf(call.arguments, step), step };
      }),
    );
}

/** As the tool took them; while it is at work, as the model wrote them. */
function argumentsOf(written: string, step: StepRecord | undefined): JsonObject {
  const record = step?.status === 'completed' ? (step.output as ToolRecord) : undefined;
  if (record?.args) return record.args;
  const parsed = parseArguments(written);
  return parsed.ok ? parsed.args : {};
}

function isEffective(step: StepRecord | undefined): step is StepRecord {
  if (step === undefined || step.status === 'error') return false;
  return step.status === 'running' || !(step.output as ToolRecord).error;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type Entry = Mutable<Omit<TeamTask, 'notes'>> & { notes: string[] };

class Fold {
  private readonly tasks: Entry[] = [];
  private completionSummary: string | null = null;
  private goalComplete = false;

  constructor(
    private readonly steps: ReadonlyMap<string, StepRecord>,
    private readonly anticipates: boolean,
  ) {}

  apply(call: Call): void {
    const { name, args, key } = call;
    if (name === 'create_task') this.create(key, args);
    else if (name === 'execute_task') this.execute(args.task_id, memberKeyOf(key), call.step!);
    else if (name === 'execute_tasks_parallel')
      for (const [position, id] of texts(args.task_ids).entries())
        this.execute(id, `${memberKeyOf(key)}:${position}`, call.step!);
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
    if (title === '' || this.tasks.some((task) => isTitled(task, title))) return;
    this.tasks.push({
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

  /** What a member came to is what the task did, the last one's if there were several. */
  private execute(taskId: unknown, memberKey: string, call: StepRecord): void {
    const task = this.find(taskId);
    const member = this.steps.get(memberKey);
    const isComing = this.anticipates && call.status === 'running';
    if (task === undefined || (member === undefined && !isComing)) return;
    task.status = 'in_progress';
    task.assignee ??= member?.name ?? null;
    if (member?.status !== 'completed') return;
    const { status, result } = member.output as unknown as ChildOutcome;
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
    return taskNamed(this.tasks, text(named));
  }
}

/** The task that the leader means: by its id, or by its title. */
export function taskNamed<Task extends { id: string; title: string }>(
  tasks: readonly Task[],
  named: string,
): Task | undefined {
  return tasks.find(({ id }) => id === named) ?? tasks.find((task) => isTitled(task, named));
}

function isTitled(task: { title: string }, title: string): boolean {
  return task.title.toLowerCase() === title.trim().toLowerCase();
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
