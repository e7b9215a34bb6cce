import type { Body } from '../../support/service.js';
import type { Ledger } from './ledger.js';
import { pause, type Random } from './random.js';
import type { StreamReader } from './reader.js';
import { StepAnswers } from './step-answers.js';
import { isOpen, ToolAnswers } from './tool-answers.js';
import { type Answer, answerOf, type Wire } from './wire.js';

/** A person who answers what paused runs wait for. */
export class Person {
  private readonly tools: ToolAnswers;
  private readonly steps: StepAnswers;

  constructor(
    private readonly wire: Wire,
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {
    this.tools = new ToolAnswers(wire, ledger, random);
    this.steps = new StepAnswers(this.tools, ledger, random);
  }

  /** Answers some or all questions of a paused run and continues it. */
  async answer(run: Body, reader: StreamReader | undefined): Promise<void> {
    if (this.ledger.ownerOf(run.run_id).kind === 'workflow') return this.answerSteps(run, reader);
    const requirements = (run.requirements ?? []) as Body[];
    if (!requirements.some(isOpen)) {
      this.ledger.violation(
        `run ${run.run_id} is paused, but asks nothing: ${JSON.stringify(run.requirements)}`,
      );
      return;
    }
    const answered = await this.tools.chosen(
      requirements,
      ({ member_run_id: member }) => member ?? run.run_id,
    );
    await this.goOn(run.run_id, this.formOf(answered), answered.length > 0, reader);
  }

  /** Lets a failed run try again. */
  async encourage(runId: string, input: string, reader: StreamReader | undefined): Promise<void> {
    await this.goOn(runId, { input }, false, reader);
  }

  private async answerSteps(run: Body, reader: StreamReader | undefined): Promise<void> {
    const { answers, form } = await this.steps.about(run);
    if (answers) await this.goOn(run.run_id, form, true, reader);
    else await pause(50);
  }

  private formOf(requirements: readonly Body[]): Record<string, string> {
    if (requirements.length === 0) return {};
    const filled = requirements.map((requirement) => this.tools.filledIn(requirement));
    return this.random.chance(0.5)
      ? { requirements: JSON.stringify(filled) }
      : { tools: JSON.stringify(filled.map(({ tool_execution: tool }) => tool)) };
  }

  private async goOn(
    runId: string,
    form: Record<string, string>,
    twice: boolean,
    reader: StreamReader | undefined,
  ): Promise<void> {
    const path = `${this.ledger.pathOf(runId)}/continue`;
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
    // another request, or a cancel, was quicker: the run is executing, has ended, or asks something else by now
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
