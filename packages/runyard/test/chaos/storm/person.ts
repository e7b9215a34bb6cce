import type { Body } from '../../support/service.js';
import type { Ledger } from './ledger.js';
import type { Random } from './random.js';
import type { StreamReader } from './reader.js';
import { type Answer, answerOf, runsPath, type Wire } from './wire.js';

type Decision = 'yes' | 'no' | 'result';

/** Somebody who answers what paused runs wait for, and says the same again when asked the same again. */
export class Person {
  private readonly decisions = new Map<string, Decision>();

  constructor(
    private readonly wire: Wire,
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {}

  /** Answers some or all questions of a paused run and lets it go on. */
  async answer(run: Body, reader: StreamReader | undefined): Promise<void> {
    const open = ((run.requirements ?? []) as Body[]).filter(isOpen);
    if (open.length === 0) {
      this.ledger.violation(
        `run ${run.run_id} is paused, but asks nothing: ${JSON.stringify(run.requirements)}`,
      );
      return;
    }
    const chosen = this.random.chance(0.3) ? [this.random.pick(open)] : open;
    for (const requirement of chosen) this.decide(run.run_id, requirement);
    const approved = chosen.filter(needsApproval);
    for (const requirement of approved) await this.resolve(requirement);
    const answered = chosen.filter((requirement) => !needsApproval(requirement));
    await this.goOn(run.run_id, this.formOf(answered), answered.length > 0, reader);
  }

  /** Lets a failed run try again. */
  async encourage(runId: string, input: string, reader: StreamReader | undefined): Promise<void> {
    await this.goOn(runId, { input }, false, reader);
  }

  private decide(runId: string, requirement: Body): void {
    const { id, outcome_unknown: unknown, tool_execution: tool } = requirement;
    const known = this.decisions.get(id);
    const decision =
      known ?? this.random.pick<Decision>(unknown ? ['yes', 'no', 'result'] : ['yes', 'yes', 'no']);
    this.decisions.set(id, decision);
    this.ledger.count(unknown ? `unknown outcome: ${decision}` : `answer: ${decision}`);
    if (decision === 'yes') this.ledger.goAhead(runId, tool.tool_call_id, id);
  }

  /** Decides on an approval, sometimes twice at once: one of the two is too late. */
  private async resolve({ id, tool_execution: tool }: Body): Promise<void> {
    const decision = this.decisions.get(id)!;
    const json = {
      status: decision === 'no' ? 'rejected' : 'approved',
      ...(decision === 'result' && { resolution_data: { result: 'it had happened' } }),
    };
    const send = () => this.wire.insist(`/approvals/${tool.approval_id}/resolve`, { json });
    const answers = await Promise.all(this.random.chance(0.3) ? [send(), send()] : [send()]);
    const statuses = answers.map(({ status }) => status);
    if (statuses.some((status) => status !== 200 && status !== 409))
      this.ledger.violation(`approval ${tool.approval_id} answered ${JSON.stringify(answers)}`);
    if (statuses.filter((status) => status === 200).length > 1)
      this.ledger.violation(`approval ${tool.approval_id} was decided on twice`);
  }

  private formOf(requirements: readonly Body[]): Record<string, string> {
    if (requirements.length === 0) return {};
    if (this.random.chance(0.5))
      return { requirements: JSON.stringify(requirements.map((requirement) => this.filledIn(requirement))) };
    return {
      tools: JSON.stringify(requirements.map((requirement) => this.filledIn(requirement).tool_execution)),
    };
  }

  /** The requirement as it came, with the answer in it: in the words of `requirements` and of `tools`. */
  private filledIn(requirement: Body): Body {
    const decision = this.decisions.get(requirement.id)!;
    const filled = structuredClone(requirement);
    const { tool_execution: tool } = filled;
    if (decision === 'no') {
      filled.confirmation = tool.confirmed = false;
    } else if (decision === 'result' || tool.external_execution_required) {
      filled.external_execution_result = tool.result = 'it happened outside';
    } else if (tool.user_input_schema) {
      for (const field of tool.user_input_schema) field.value = 7;
      filled.user_input_schema = tool.user_input_schema;
    } else if (tool.user_feedback_schema) {
      for (const question of tool.user_feedback_schema) question.selected_options = ['left'];
      filled.user_feedback_schema = tool.user_feedback_schema;
    } else {
      filled.confirmation = tool.confirmed = true;
    }
    return filled;
  }

  private async goOn(
    runId: string,
    form: Record<string, string>,
    twice: boolean,
    reader: StreamReader | undefined,
  ): Promise<void> {
    const path = `${runsPath}/${runId}/continue`;
    const way = this.random.pick(reader === undefined ? ways.slice(1) : ways);
    const send = () => this.wire.send(path, { form: { ...form, ...way } });
    const sent = twice && this.random.chance(0.3) ? [send(), send()] : [send()];
    const responses = await Promise.all(sent);
    const accepted = responses.filter((response) => response !== undefined && response.status < 300);
    this.ledger.count(sent.length > 1 ? 'continued twice at once' : 'continued');
    if (accepted.length > 1) this.ledger.violation(`run ${runId}: two continues at once were both accepted`);
    for (const response of responses) {
      if (response === accepted[0] && response !== undefined && way.stream === 'true')
        await reader!.take(response);
      else if (response !== undefined) this.check(runId, await answerOf(response), sent.length > 1);
    }
  }

  private check(runId: string, answer: Answer | undefined, twice: boolean): void {
    if (answer === undefined) return;
    const { status, body } = answer;
    // another request, or a cancel, was quicker: the run is at work, has ended, or asks something else by now
    const late = status === 409 || (twice && status === 400 && body.error_code === 'unresolved_requirements');
    if (status !== 200 && status !== 202 && !late)
      this.ledger.violation(`continue of ${runId} answered ${status}: ${JSON.stringify(body)}`);
    else if (!late && body.run_id !== runId)
      this.ledger.violation(`continue of ${runId} made another run of it: ${JSON.stringify(body)}`);
  }
}

/** How a continued run is waited for. */
const ways: readonly Readonly<Record<'stream' | 'background', string>>[] = [
  { stream: 'true', background: 'false' },
  { stream: 'false', background: 'false' },
  { stream: 'false', background: 'true' },
];

function needsApproval({ tool_execution: tool }: Body): boolean {
  return tool.approval_type === 'required';
}

function isOpen(requirement: Body): boolean {
  const { user_input_schema: fields, user_feedback_schema: questions } = requirement;
  if (requirement.confirmation !== undefined || requirement.external_execution_result !== undefined)
    return false;
  if (fields) return fields.some(({ value }: Body) => value === null);
  if (questions) return questions.some(({ selected_options: selected }: Body) => selected === null);
  return true;
}
