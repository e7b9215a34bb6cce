import type { ContinueForm } from '../../capabilities/runs/schema.js';
import { errors } from '../../core/errors/errors.js';
import { isJsonObject } from '../../core/json.js';
import type { RunKind } from '../../core/runs/run.js';
import { answersForm, PausedRun } from '../common/answers/paused-run.js';
import type { Question, SimpleAnswer } from '../common/answers/question.js';
import type { ChatBody, UiMessage, UiPart } from './chat-body.js';
import { isToolPart } from './conversation.js';

/** The form with the answers that a message of the assistant comes back with, and the calls that they are for. */
export function answerFormOf(
  kind: RunKind,
  run: Readonly<Record<string, unknown>>,
  message: UiMessage,
  { answers = [], requirements }: ChatBody,
): { readonly form: ContinueForm; readonly calls: readonly string[] } {
  const paused = new PausedRun(kind, run);
  const calls = paused.questions.map(({ id }) => id);
  if (requirements !== undefined) return { form: answersForm(kind, requirements), calls };
  paused.put(answers);
  const given = new Set(answers.map(({ id }) => id ?? calls[0]));
  for (const question of paused.questions) {
    if (given.has(question.id)) continue;
    const part = message.parts.findLast((one) => isToolPart(one) && one.toolCallId === question.id);
    const answer = part && answerIn(part, question);
    // an approval is decided elsewhere: the run sees to that
    if (answer !== undefined) question.put(answer);
    else if (!question.needsApproval) throw unanswered(question);
  }
  return { form: paused.form(), calls };
}

function answerIn(
  { state, output, errorText, approval }: UiPart,
  { asked }: Question,
): SimpleAnswer | undefined {
  if (asked.kind === 'confirmation') {
    const { approved, reason } = approval ?? {};
    return approved === undefined
      ? undefined
      : { confirmed: approved, ...(reason !== undefined && { note: reason }) };
  }
  if (asked.kind === 'result' && state === 'output-error') return { result: errorText ?? 'The call failed.' };
  if (state !== 'output-available' || output === undefined) return undefined;
  if (asked.kind === 'result') return { result: output };
  if (asked.kind === 'input' && isJsonObject(output)) return { values: output };
  if (asked.kind === 'choice' && Array.isArray(output))
    return { selected: output.map((one) => (Array.isArray(one) ? one.map(String) : String(one))) };
  return undefined;
}

const ways: Readonly<Record<Question['asked']['kind'], string>> = {
  confirmation: 'addToolApprovalResponse, or a `confirmed` in `answers`',
  result: 'addToolOutput',
  input: 'the `values` in `answers`',
  choice: 'the `selected` labels in `answers`',
  decision: 'a `decision` in `answers`',
};

function unanswered({ id, asked }: Question): Error {
  return errors.invalidAnswer(
    `The run waits for an answer to '${id}', and the message has none. Give it with ${ways[asked.kind]}.`,
  );
}
