import type { ToolCallBody } from '../../../core/events/agent-event.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { Run } from '../../../core/runs/run.js';
import { openRequirements, PausedRun } from '../../common/answers/paused-run.js';
import { objectsIn, type Question } from '../../common/answers/question.js';
import { formOf } from '../../common/answers/question-form.js';

type Body = Readonly<Record<string, unknown>>;

/** What a paused run waits for, as the protocol has it. */
export class Waiting {
  readonly paused: PausedRun;
  /** The calls, those of steps of a workflow included. */
  readonly calls: readonly ToolCallBody[];

  /** Until when steps can be answered. */
  private readonly dueTimes: ReadonlyMap<string, string>;

  constructor(
    readonly run: Run,
    body: Body,
  ) {
    this.paused = new PausedRun(run.kind, body);
    const open = openRequirements(body);
    this.dueTimes = new Map(
      open.flatMap(({ step_id: id, timeout_at: due }) =>
        typeof due === 'string' ? [[String(id), due]] : [],
      ),
    );
    this.calls = open.flatMap((one) =>
      'tool_execution' in one ? callsIn([one]) : callsIn(objectsIn(one.executor_requirements)),
    );
  }

  get questions(): readonly Question[] {
    return this.paused.questions;
  }

  /** Whether the client executes the call that is asked for with a tool of its own. */
  isOfClient({ id, asked }: Question): boolean {
    const call = this.calls.find(({ tool_call_id: callId }) => callId === id);
    return asked.kind === 'result' && call?.external_execution_silent === true;
  }

  /** By which an answer names the question. Ids of calls may come again in a thread: the run is a part of it. */
  interruptId({ id }: Question): string {
    return `${this.run.runId}:${id}`;
  }

  interrupts(): JsonObject[] {
    return this.questions
      .filter((question) => !this.isOfClient(question))
      .map((question) => {
        const { id, message, asked, needsApproval } = question;
        const expiresAt = this.dueTimes.get(id);
        const schema = formOf(question, true)?.schema;
        const call = this.calls.find(({ tool_call_id: callId }) => callId === id);
        return {
          id: this.interruptId(question),
          reason: needsApproval ? 'approval' : reasons[asked.kind],
          message,
          ...(call && { toolCallId: id }),
          ...(expiresAt !== undefined && { expiresAt }),
          // a schema is JSON
          ...(schema && { responseSchema: schema as unknown as JsonObject }),
          ...(call?.approval_id && { metadata: { approvalId: call.approval_id } }),
        };
      });
  }

  /** Calls of tools of the client, which it answers with messages. */
  clientCalls(): string[] {
    return this.questions.filter((question) => this.isOfClient(question)).map(({ id }) => id);
  }
}

const reasons = {
  confirmation: 'confirmation',
  input: 'user_input',
  choice: 'user_feedback',
  decision: 'step_failed',
  result: 'external_execution',
} as const;

function callsIn(requirements: readonly JsonObject[]): ToolCallBody[] {
  // the body of a run has calls in this form
  return requirements
    .map(({ tool_execution: call }) => call)
    .filter(isJsonObject) as unknown as ToolCallBody[];
}
