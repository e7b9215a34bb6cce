import type { InterruptedPolicy, Requirement, RunContext } from '../context.js';
import { type Codec, decoded } from '../journal/codec.js';
import { type OutcomeAnswer, outcomeAnswer } from '../journal/records.js';
import type { StepRecord } from '../run.js';

/** The process died inside this step. Answers with its outcome, or undefined when it is to be done again. */
export async function interruptedOutcome<T>(
  context: Pick<RunContext, 'wait'>,
  /** Its key as the context has it. */
  key: string,
  recorded: StepRecord,
  record: Codec<T>,
  interrupted: InterruptedPolicy<T>,
): Promise<T | undefined> {
  const message = `The process stopped while '${recorded.name}' was at work; whether it took effect is not known.`;
  const question = async (): Promise<Requirement> => ({
    // a step that was done again and interrupted again is another question
    key: `${key}:outcome:${recorded.attempt}`,
    parentKey: key,
    kind: 'unknown_outcome',
    data: { step: recorded.key, name: recorded.name, started_at: recorded.startedAt, message },
    ...(await interrupted.question?.(message)),
  });
  const answer: OutcomeAnswer =
    interrupted.policy === 'fail'
      ? { outcome: 'failed', message }
      : await context.wait(await question(), outcomeAnswer);
  if (answer.outcome === 'retry') return undefined;
  return answer.outcome === 'done'
    ? decoded(record, answer.output, recorded)
    : interrupted.lost(answer.message);
}
