import { evaluatedRunOf } from '../../core/evals/evaluated-run.js';
import type { LiveEval } from '../../core/evals/live-eval.js';
import { scoreRun } from '../../core/evals/score-run.js';
import type { Evidence, Scorer } from '../../core/evals/scorer.js';
import { isJsonObject, type Json } from '../../core/json.js';
import type { Model } from '../../core/models/model.js';
import { withPaceOfJob } from '../../core/models/pace/paced-model.js';
import type { ModelPrices } from '../../core/models/prices.js';
import { defineJob, type Job, type JobContext } from '../../core/runs/jobs/job.js';
import { inputRecord, outputRecord } from '../../core/runs/journal/codec.js';
import type { RunJournal } from '../../core/runs/journal/ports.js';
import { flag, nullable, number, object, optional, text } from '../../core/runs/journal/shapes.js';
import type { GradedRun, LiveEvalStore, NamedScore } from './store.js';

export interface LiveEvalInput {
  readonly runId: string;
  readonly eval: string;
}

/** `gone`: the run was deleted before it was graded. */
interface LiveEvalResult {
  readonly outcome: string;
}

export interface LiveEvalParts {
  readonly store: Pick<LiveEvalStore, 'settle'>;
  readonly journal: Pick<RunJournal, 'load'>;
  readonly prices: ModelPrices;
  /** A registered eval with its judge. */
  readonly find: (
    name: string,
  ) => { readonly liveEval: LiveEval; readonly judge: Model | undefined } | undefined;
}

const inputShape = inputRecord('live_eval', 1, object({ runId: text, eval: text }));
const resultShape = outputRecord('live_eval_result', 1, object({ outcome: text }));
const scoreShape = outputRecord(
  'live_eval_score',
  1,
  object({
    score: nullable(number),
    passed: nullable(flag),
    reason: optional(text),
    judge: optional(object({ id: text, provider: text })),
  }),
);

/** What is stored of the reason of a judge. */
const longestReason = 4_000;

/** Grades one run that an eval has chosen. Each score is a step: after a crash, no judge is asked twice. */
export function liveEvalJob(parts: LiveEvalParts): Job<LiveEvalInput, LiveEvalResult> {
  return defineJob({
    kind: 'live-eval',
    input: inputShape,
    result: resultShape,
    limits: { steps: 1_000, timeMs: 3_600_000 },
    async execute(context, input) {
      const graded = await gradedRun(parts, context, input);
      if (graded === undefined) return { outcome: 'gone' };
      await parts.store.settle(graded);
      return { outcome: graded.outcome };
    },
  });
}

async function gradedRun(
  { journal, prices, find }: LiveEvalParts,
  context: JobContext,
  { runId, eval: name }: LiveEvalInput,
): Promise<GradedRun | undefined> {
  const registered = find(name);
  if (registered === undefined) {
    context.log.warn(
      { runId, eval: name },
      'a run is not graded: its live eval is not registered in this process',
    );
    return { runId, eval: name, outcome: 'incomplete', scores: [] };
  }
  const stored = await journal.load(runId);
  if (stored === undefined) return undefined;
  const { liveEval, judge } = registered;
  const run = evaluatedRunOf(stored.run, stored.steps, prices);
  const evidence: Evidence = { case: { id: runId, input: run.input }, run };
  const scores: NamedScore[] = [];
  for (const scorer of liveEval.scorers) {
    const score = await scoreOf(context, scorer, evidence, judge);
    if (score !== undefined) scores.push({ scorer: scorer.name, ...score });
  }
  const outcome = scores.length === liveEval.scorers.length ? 'graded' : 'incomplete';
  return { runId, eval: name, outcome, scores };
}

/** Undefined when the scorer failed: the others are still asked. A judge is asked again by its scorer, and not here. */
async function scoreOf(
  context: JobContext,
  scorer: Scorer,
  evidence: Evidence,
  judge: Model | undefined,
): Promise<Omit<NamedScore, 'scorer'> | undefined> {
  const { log, timers, callApplication } = context;
  const step = { name: scorer.name, record: scoreShape };
  try {
    return await context.step(`score:${scorer.name}`, step, async ({ signal }) => {
      const paced = judge && withPaceOfJob(context, 'live-eval', judge);
      const scored = await scoreRun([scorer], evidence, { signal, judge: paced, timers, callApplication });
      // a scorer may be called like what every object has
      const [given] = Object.values(scored.scores);
      if (given === undefined) throw new Error(scored.failure ?? 'The scorer returned no score.');
      const { score, passed, reason, details } = given;
      const by = judgeOf(details);
      return {
        score,
        passed,
        ...(reason !== undefined && { reason: reason.slice(0, longestReason) }),
        ...(by !== undefined && { judge: by }),
      };
    });
  } catch (error) {
    context.signal.throwIfAborted();
    log.warn(
      { err: error, runId: evidence.run.runId, scorer: scorer.name },
      'a scorer of a live eval failed',
    );
    return undefined;
  }
}

/** The model that judged, as scorers that ask one say it. */
function judgeOf(details: Json | undefined): { id: string; provider: string } | undefined {
  if (!isJsonObject(details)) return undefined;
  const { judge, judge_provider: provider } = details;
  return typeof judge === 'string' && typeof provider === 'string' ? { id: judge, provider } : undefined;
}
