import type { ContinueForm } from '../../../capabilities/runs/schema.js';
import { errors } from '../../../core/errors/errors.js';
import type { AguiCall } from '../call.js';
import { jsonOrText, textOf } from '../run-form.js';
import { type InputMessage, type ResumeEntry, trailingToolMessages } from '../run-input.js';
import { Waiting } from './interrupts.js';
import { readAnswer } from './read-answer.js';

/** More runs of a thread do not wait at the same time. */
const mostPaused = 50;

/** What a request answers. */
export interface Answers {
  readonly resume: readonly ResumeEntry[];
  readonly messages: readonly InputMessage[];
}

/** The answers in a request; undefined for one that begins something. */
export function answersIn({ input }: AguiCall): Answers | undefined {
  const resume = input.resume ?? [];
  const messages = trailingToolMessages(input);
  return resume.length === 0 && messages.length === 0 ? undefined : { resume, messages };
}

/** The paused run of the thread that the answers are for. */
export async function answeredRun(call: AguiCall, answers: Answers): Promise<Waiting> {
  const { services, caller, target, input } = call;
  const place = { ...target, sessionId: input.threadId };
  const { runs } = await services.runs.page(caller, place, { status: 'paused', limit: mostPaused });
  for await (const view of runs) {
    const waiting = new Waiting(view.run, await services.runs.body(view, 'runyard'));
    if (waiting.questions.some((question) => answerTo(waiting, question, answers) !== undefined))
      return waiting;
  }
  throw errors.runNotFound(
    `No paused run matching the provided tool results found in session ${input.threadId}`,
  );
}

type Given =
  | { readonly entry: ResumeEntry; readonly message?: undefined }
  | { readonly message: InputMessage; readonly entry?: undefined };

function answerTo(
  waiting: Waiting,
  question: Waiting['questions'][number],
  { resume, messages }: Answers,
): Given | undefined {
  const entry = resume.find(({ interruptId }) => interruptId === waiting.interruptId(question));
  if (entry !== undefined) return { entry };
  const message = messages.findLast(({ toolCallId }) => toolCallId === question.id);
  return message && { message };
}

/** The form that continues the run; undefined when the client gives up what only an answer can continue. */
export function continueFormOf(waiting: Waiting, answers: Answers): ContinueForm | undefined {
  const unknown = answers.resume.find(
    ({ interruptId }) => !waiting.questions.some((question) => waiting.interruptId(question) === interruptId),
  );
  if (unknown !== undefined)
    throw errors.invalidAnswer(`The run does not wait for '${unknown.interruptId.slice(0, 200)}'.`);
  const open = waiting.questions.filter((question) => answerTo(waiting, question, answers) === undefined);
  if (open.length > 0)
    throw errors.invalidAnswer(
      `The run waits for ${waiting.questions.length} answers, and the request leaves out ${open.length} of them: ${open.map((question) => `'${waiting.interruptId(question)}'`).join(', ')}. Send all of them at once.`,
    );
  for (const question of waiting.questions) {
    const given = answerTo(waiting, question, answers);
    // only the decision on its approval answers it
    if (given === undefined || question.needsApproval) continue;
    const isGivenUp = given.entry?.status === 'cancelled';
    if (isGivenUp && question.asked.kind !== 'confirmation') return undefined;
    const answer = isGivenUp ? { confirmed: false } : readAnswer(question, givenValue(question, given));
    if (answer === undefined)
      throw errors.invalidAnswer(
        `The answer to '${waiting.interruptId(question)}' has no value that the run can use. It asks: ${question.message.slice(0, 500)}`,
      );
    question.put(answer);
  }
  return { ...waiting.paused.form(), stream: true, on_disconnect: 'continue' };
}

function givenValue({ asked }: Waiting['questions'][number], { entry, message }: Given) {
  if (entry !== undefined) return entry.payload;
  const text = textOf(message.content);
  // what a tool of the client returned is the model's to read
  if (asked.kind === 'result') return message.error ? `Error: ${message.error}${text && `\n${text}`}` : text;
  return jsonOrText(text);
}
