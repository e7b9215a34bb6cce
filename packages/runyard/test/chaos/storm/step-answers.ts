import type { Body } from '../../support/service.js';
import type { Ledger } from './ledger.js';
import type { Random } from './random.js';
import { isOpen, type ToolAnswers } from './tool-answers.js';

type Answer = Readonly<Record<string, unknown>>;

/** The answers for the steps of a paused workflow. */
export interface SaidAboutSteps {
  /** False when it is left to the time, or nothing is asked. */
  readonly answers: boolean;
  readonly form: Record<string, string>;
}

/** Answers to what the steps of a workflow wait for; the same again when asked the same again. */
export class StepAnswers {
  /** Null: no person answers, and the question times out. */
  private readonly decisions = new Map<string, Answer | null>();

  constructor(
    private readonly tools: ToolAnswers,
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {}

  async about(run: Body): Promise<SaidAboutSteps> {
    const steps = (run.step_requirements ?? []) as Body[];
    const failures = (run.error_requirements ?? []) as Body[];
    const open = [...steps, ...failures].filter(isOpenStep);
    if (open.length === 0) {
      this.ledger.violation(`run ${run.run_id} is paused, but asks nothing: ${JSON.stringify(steps)}`);
      return { answers: false, form: {} };
    }
    const said = new Map<Body, Body>();
    let answers = false;
    for (const requirement of open) {
      const answer = await this.answer(run.run_id, requirement);
      if (answer === null) continue;
      answers = true;
      said.set(requirement, { ...requirement, ...answer });
    }
    return { answers, form: this.formOf(steps, failures, said) };
  }

  /** Clients send back whole lists, or only what they answer. */
  private formOf(steps: Body[], failures: Body[], said: ReadonlyMap<Body, Body>): Record<string, string> {
    const whole = this.random.chance(0.5);
    const list = (requirements: Body[]) =>
      requirements
        .filter((requirement) => whole || said.has(requirement))
        .map((requirement) => said.get(requirement) ?? requirement);
    const [given, decided] = [list(steps), list(failures)];
    return {
      ...(given.length > 0 && { step_requirements: JSON.stringify(given) }),
      ...(decided.length > 0 && { error_requirements: JSON.stringify(decided) }),
    };
  }

  private async answer(runId: string, requirement: Body): Promise<Answer | null> {
    if (requirement.requires_executor_input) return this.answerExecutor(requirement);
    const name = `${runId} ${requirement.requirement_id}`;
    const known = this.decisions.get(name);
    const answer = known === undefined ? this.decide(requirement) : known;
    this.decisions.set(name, answer);
    this.ledger.count(`step: ${answer === null ? 'left to the time' : Object.keys(answer).join()}`);
    for (const step of agreed(requirement, answer)) this.ledger.goAhead(runId, `step ${step}`, name);
    return answer;
  }

  /** The calls of an agent or a team that executes a step. */
  private async answerExecutor(requirement: Body): Promise<Answer> {
    const { executor_requirements: calls, executor_run_id: runId } = requirement;
    const answered = await this.tools.chosen(calls, ({ member_run_id: member }) => member ?? runId);
    return { executor_requirements: answered.map((call) => this.tools.filledIn(call)) };
  }

  private decide(requirement: Body): Answer | null {
    if (requirement.error_message !== undefined)
      return { decision: this.random.pick(['retry', 'retry', 'skip']) };
    if (requirement.requires_route_selection)
      return { selected_choices: [this.random.pick(requirement.available_choices as string[])] };
    if (requirement.timeout_at !== null && this.random.chance(0.6)) return null;
    if (this.random.chance(0.25)) return { confirmed: false, rejection_feedback: 'Not like this' };
    return { confirmed: true, ...(requirement.requires_user_input && { user_input: { seat: 7 } }) };
  }
}

/** The steps that may begin because of an answer. */
function agreed({ step_name: name, is_post_execution: made }: Body, answer: Answer | null): string[] {
  if (answer?.selected_choices !== undefined) return answer.selected_choices as string[];
  return answer?.confirmed === true && !made ? [name] : [];
}

function isOpenStep(requirement: Body): boolean {
  if (requirement.requires_executor_input) return requirement.executor_requirements.some(isOpen);
  if (requirement.error_message !== undefined) return requirement.decision === null;
  const { confirmed, selected_choices: selected, timed_out: late } = requirement;
  return confirmed === null && selected === null && late !== true;
}
