import { isDeclined } from '../../agents/answer/stopped.js';
import { plainMessage } from '../../agents/auxiliary/auxiliary-step.js';
import { withOutput } from '../../agents/auxiliary/structured-request.js';
import { pause } from '../../async/abort.js';
import { backOffMs } from '../../async/back-off.js';
import { isJsonObject, type Json } from '../../json.js';
import type { MediaContents } from '../../media/media.js';
import { responseOf, withModel } from '../../models/called-model.js';
import type { Message } from '../../models/message.js';
import type { Model, ModelResponse } from '../../models/model.js';
import { ModelError } from '../../models/model-error.js';
import type { Score, ScoringContext } from '../scorer.js';
import {
  formatOf,
  type JudgeQuestion,
  type JudgeScoring,
  leastScore,
  messagesOf,
  mostScore,
} from './judge-question.js';

/** How often a judge is asked for one judgement. */
const mostTries = 3;
const backoff = { delayMs: 1_000, factor: 2, maximumMs: 30_000 };
const longestQuote = 2_000;

/** What a judge decided, and what that took. */
export interface Judgement {
  /** Of a numeric judgement. */
  readonly score: number | null;
  /** Of a binary judgement. */
  readonly passed: boolean | null;
  readonly reason: string;
  readonly details: Json;
}

/**
 * Asks the judge of the eval. An answer that is unreadable or out of range is refused, and the judge is asked again with
 * the fault; so is a call that failed and may succeed later. Throws when no try brings a judgement.
 */
export async function askJudge(question: JudgeQuestion, context: ScoringContext): Promise<Judgement> {
  const { judge, signal, timers } = context;
  if (judge === undefined) throw new Error('it needs a model that judges. Give the eval a judge.');
  const messages = messagesOf(question);
  const used = { inputTokens: 0, outputTokens: 0 };
  for (let tries = 1; ; tries += 1) {
    let response: ModelResponse;
    try {
      response = await call(judge, question.scoring, messages, context);
    } catch (error) {
      signal.throwIfAborted();
      const isFinal = error instanceof ModelError && !error.retryable;
      if (isFinal || tries === mostTries) throw error;
      const asked = error instanceof ModelError ? (error.retryAfterMs ?? 0) : 0;
      if (asked > backoff.maximumMs) throw error;
      await pause(Math.max(asked, backOffMs(backoff, tries - 1)), signal, timers);
      continue;
    }
    used.inputTokens += response.usage.inputTokens;
    used.outputTokens += response.usage.outputTokens;
    if (isDeclined(response))
      throw new Error(`the judge '${judge.id}' declined: ${response.finishMessage ?? response.finishReason}`);
    const read = readJudgement(question.scoring, response);
    if (!('fault' in read)) {
      const by = { judge: judge.id, judge_provider: judge.provider };
      return {
        ...read,
        details: { ...by, tries, input_tokens: used.inputTokens, output_tokens: used.outputTokens },
      };
    }
    if (tries === mostTries)
      throw new Error(
        `the judge '${judge.id}' gave no usable judgement in ${mostTries} tries: ${read.fault}`,
      );
    messages.push(
      plainMessage('assistant', response.content.slice(0, longestQuote) || '(nothing)'),
      plainMessage(
        'user',
        `That judgement cannot be used: ${read.fault}. Judge again and answer in the form that was asked for.`,
      ),
    );
  }
}

async function call(
  judge: Model,
  scoring: JudgeScoring,
  messages: readonly Message[],
  { signal, callApplication }: ScoringContext,
): Promise<ModelResponse> {
  const asked = withOutput(judge, [...messages], formatOf(scoring));
  const response = await withModel({ callApplication }, judge, () =>
    judge.generate({ ...asked, tools: [], media: noMedia }, { signal }),
  );
  return responseOf(judge, response);
}

/** A judge reads texts alone. */
const noMedia: MediaContents = {
  put: () => Promise.reject(new Error('A judge makes no media.')),
  get: async () => undefined,
};

type ReadJudgement = Omit<Judgement, 'details'> | { readonly fault: string };

function readJudgement(scoring: JudgeScoring, { content, finishReason }: ModelResponse): ReadJudgement {
  const value = onlyObject(content);
  if (!isJsonObject(value))
    return {
      fault: finishReason === 'length' ? 'the answer was cut off' : 'the answer is not a JSON object',
    };
  const { reason, score, passed } = value;
  if (typeof reason !== 'string') return { fault: 'it has no text as its reason' };
  if (scoring === 'binary') {
    if (typeof passed !== 'boolean') return { fault: "its 'passed' is neither true nor false" };
    return { score: null, passed, reason };
  }
  if (typeof score !== 'number' || !Number.isInteger(score))
    return { fault: `its score is ${JSON.stringify(score) ?? 'missing'}, not a whole number` };
  if (score < leastScore || score > mostScore)
    return { fault: `its score is ${score}, and scores are from ${leastScore} to ${mostScore}` };
  return { score, passed: null, reason };
}

/** The object in a text. A text with several has none: one of them may be quoted from the output. */
function onlyObject(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  } catch {
    return undefined;
  }
}

/** A judgement as a score: a numeric one passes from the threshold on. */
export function scoreOf({ score, passed, reason, details }: Judgement, threshold: number | undefined): Score {
  const verdict = score === null ? passed : threshold === undefined ? null : score >= threshold;
  return { score, passed: verdict, reason, details };
}
