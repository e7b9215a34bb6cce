import type { Body } from '../../support/service.js';
import type { Ledger } from './ledger.js';
import type { Random } from './random.js';
import type { Wire } from './wire.js';

type Decision = 'yes' | 'no' | 'result';

/** Answers to what tool calls wait for; the same again when asked the same again. */
export class ToolAnswers {
  private readonly decisions = new Map<string, Decision>();

  constructor(
    private readonly wire: Wire,
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {}

  /** Some or all of what is open, decided on. What needs an approval has it then; what does not is answered with. */
  async chosen(requirements: readonly Body[], runIdOf: (requirement: Body) => string): Promise<Body[]> {
    const open = requirements.filter(isOpen);
    if (open.length === 0) return [];
    const chosen = this.random.chance(0.3) ? [this.random.pick(open)] : open;
    for (const requirement of chosen) this.decide(runIdOf(requirement), requirement);
    for (const requirement of chosen.filter(needsApproval)) await this.resolve(requirement);
    return chosen.filter((requirement) => !needsApproval(requirement));
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

  /** The requirement as it came, with the answer in it: in the words of `requirements` and of `tools`. */
  filledIn(requirement: Body): Body {
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
}

function needsApproval({ tool_execution: tool }: Body): boolean {
  return tool.approval_type === 'required';
}

export function isOpen(requirement: Body): boolean {
  const { user_input_schema: fields, user_feedback_schema: questions } = requirement;
  if (requirement.confirmation !== undefined || requirement.external_execution_result !== undefined)
    return false;
  if (fields) return fields.some(({ value }: Body) => value === null);
  if (questions) return questions.some(({ selected_options: selected }: Body) => selected === null);
  return true;
}
