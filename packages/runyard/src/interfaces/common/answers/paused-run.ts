import type { ContinueForm } from '../../../capabilities/runs/schema.js';
import { errors } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { RunKind } from '../../../core/runs/run.js';
import {
  callQuestion,
  failureQuestion,
  objectsIn,
  type Question,
  type SimpleAnswer,
  stepQuestion,
} from './question.js';

type Body = Readonly<Record<string, unknown>>;

/** What a paused run waits for, as its body has it: calls of tools, or steps of a workflow. */
export function openRequirements(body: Body): JsonObject[] {
  return [
    ...objectsIn(body.requirements).filter(isOpenCall),
    ...objectsIn(body.step_requirements).filter(isOpenStep),
    ...objectsIn(body.error_requirements).filter(isOpenFailure),
  ];
}

/** An answer that names what it answers. */
export interface NamedAnswer extends SimpleAnswer {
  /** The id of a tool call or of a step; may be left out when only one thing is asked. */
  readonly id?: string | undefined;
}

/** The questions of a paused run, and the form with the answers to them. */
export class PausedRun {
  readonly questions: readonly Question[];
  readonly #requirements: readonly JsonObject[];

  constructor(
    private readonly kind: RunKind,
    body: Body,
  ) {
    // the answers are written into a copy
    this.#requirements = structuredClone(openRequirements(body));
    this.questions = this.#requirements.flatMap(questionsIn);
  }

  /** Writes the answers into the requirements. Throws for one that names nothing that is asked. */
  put(answers: readonly NamedAnswer[]): void {
    for (const answer of answers) this.#meant(answer.id).put(answer);
  }

  form(): ContinueForm {
    return answersForm(this.kind, this.#requirements);
  }

  #meant(id: string | undefined): Question {
    const [only, ...others] = this.questions;
    const ids = this.questions.map((question) => `'${question.id}'`).join(', ');
    if (id === undefined) {
      if (only !== undefined && others.length === 0) return only;
      throw errors.invalidAnswer(
        `The run waits for ${this.questions.length} answers: ${ids}. Send \`answers\`, each with the id of a tool call or step.`,
      );
    }
    const meant = this.questions.find((question) => question.id === id);
    if (meant === undefined)
      throw errors.invalidAnswer(`The run does not wait for '${id}'. It waits for ${ids || 'nothing'}.`);
    return meant;
  }
}

/** Requirements with their answers, in the fields that each kind of run has for them. */
export function answersForm(kind: RunKind, requirements: readonly JsonObject[]): ContinueForm {
  if (kind !== 'workflow') return { requirements: JSON.stringify(requirements) };
  const isFailure = (one: JsonObject) => 'error_message' in one || 'decision' in one;
  return {
    step_requirements: JSON.stringify(requirements.filter((one) => !isFailure(one))),
    error_requirements: JSON.stringify(requirements.filter(isFailure)),
  };
}

function questionsIn(requirement: JsonObject): Question[] {
  if ('tool_execution' in requirement) return [callQuestion(requirement)];
  if ('decision' in requirement) return [failureQuestion(requirement)];
  const inside = objectsIn(requirement.executor_requirements);
  if (inside.length > 0) return inside.filter(isOpenCall).map(callQuestion);
  return [stepQuestion(requirement)];
}

function isOpenCall({
  tool_execution: call,
  confirmation,
  external_execution_result: result,
}: JsonObject): boolean {
  const [{ confirmed = null, answered = null } = {}] = objectsIn([call]);
  return confirmed === null && answered === null && confirmation === undefined && result === undefined;
}

function isOpenStep(requirement: JsonObject): boolean {
  const inside = objectsIn(requirement.executor_requirements);
  if (inside.length > 0) return inside.some(isOpenCall);
  const answers = ['confirmed', 'user_input', 'selected_choices', 'timed_out'];
  return answers.every((name) => (requirement[name] ?? null) === null);
}

function isOpenFailure({ decision = null }: JsonObject): boolean {
  return decision === null;
}
