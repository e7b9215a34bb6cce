import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { objectsIn, type Question, type SimpleAnswer } from '../../common/answers/question.js';
import type { RunJob } from '../parts.js';
import type { Decision } from './blocks.js';

/** A message that asks, and the requirements that it asks about. */
export interface Page {
  readonly ts: string;
  readonly ids: readonly string[];
}

/** What is known of a pause while it lasts. */
export interface PauseNotes {
  /** Which pause it is: a run may pause again. */
  readonly key: string;
  /** The message that says what the run waits for. It is deleted when the run continues. */
  readonly waitingTs?: string | undefined;
  readonly pages: readonly Page[];
  /** A message was begun that may be there. */
  readonly beginning: boolean;
  readonly decisions: Readonly<Record<string, Decision>>;
  readonly answers: Readonly<Record<string, SimpleAnswer>>;
}

export function keyOf(questions: readonly Question[]): string {
  return questions.map(({ about }) => about.requirementId).join('\n');
}

export async function pauseNotes({ notes }: RunJob): Promise<PauseNotes | undefined> {
  const { pause } = await notes.read();
  if (!isJsonObject(pause)) return undefined;
  const { key, waitingTs, pages, beginning, decisions, answers } = pause;
  return {
    key: String(key),
    ...(typeof waitingTs === 'string' && { waitingTs }),
    pages: objectsIn(pages).map(({ ts, ids }) => ({
      ts: String(ts),
      ids: Array.isArray(ids) ? ids.map(String) : [],
    })),
    beginning: beginning === true,
    // only `writePause` writes them
    decisions: (isJsonObject(decisions) ? decisions : {}) as unknown as PauseNotes['decisions'],
    // only `writePause` writes them
    answers: (isJsonObject(answers) ? answers : {}) as PauseNotes['answers'],
  };
}

export async function writePause({ notes }: RunJob, pause: PauseNotes): Promise<void> {
  // what was read of Slack is JSON
  await notes.write({ ...(await notes.read()), pause: pause as unknown as JsonObject });
}
