import { outputShapeOf, verifyOutputSchema } from '../../core/agents/answer/output-format.js';
import { errors, RunyardError } from '../../core/errors/errors.js';
import { reasonOf } from '../../core/errors/reason.js';
import { accuracyScorer } from '../../core/evals/kinds/accuracy.js';
import { judgeScorer } from '../../core/evals/kinds/agent-as-judge.js';
import { reliabilityScorer } from '../../core/evals/kinds/reliability.js';
import type { Scorer } from '../../core/evals/scorer.js';
import { maxCost, maxLatency, maxTokens } from '../../core/evals/scorers/bounds.js';
import { similarity } from '../../core/evals/scorers/similarity.js';
import { contains, exact, regex } from '../../core/evals/scorers/text-scorers.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import { scorerNames } from './eval-data.js';
import type { ChosenScorer, Evaluation } from './stored-eval.js';

type MadeScorer = Scorer | Promise<Scorer>;

/** What makes a scorer of the options that a request sends. Each checks its options itself, whatever their type. */
const ready: Readonly<Record<string, (options: never) => MadeScorer>> = {
  exact,
  contains,
  regex,
  json_schema: requestedSchema,
  similarity: requestedSimilarity,
  max_cost: maxCost,
  max_latency: maxLatency,
  max_tokens: maxTokens,
  accuracy: accuracyScorer,
  judge: judgeScorer,
  reliability: reliabilityScorer,
};

/** The scorers of an eval. Performance has none: it is measured. */
export async function scorersOf(
  evaluation: Evaluation,
  registered: ReadonlyMap<string, Scorer>,
): Promise<Scorer[]> {
  const { guidelines, context, criteria = '', strategy: scoring, threshold } = evaluation;
  const { expectedToolCalls, allowAdditionalToolCalls, expectedArguments } = evaluation;
  switch (evaluation.evalType) {
    case 'accuracy':
      return [
        accuracyScorer({
          name: scorerNames.accuracy,
          ...(guidelines !== undefined && { guidelines }),
          ...(context !== undefined && { context }),
        }),
      ];
    case 'agent_as_judge':
      return [
        judgeScorer({
          name: scorerNames.judge,
          criteria,
          scoring,
          ...(scoring === 'numeric' && { threshold }),
          ...(guidelines !== undefined && { guidelines }),
        }),
      ];
    case 'performance':
      return [];
    case 'reliability':
      return [
        reliabilityScorer({
          name: scorerNames.reliability,
          allowAdditionalToolCalls,
          ...(expectedToolCalls !== undefined && { expectedToolCalls }),
          ...(expectedArguments !== undefined && { expectedArguments }),
        }),
      ];
    case 'custom':
      return chosenScorers(evaluation.scorers ?? [], registered);
  }
}

async function chosenScorers(
  chosen: readonly ChosenScorer[],
  registered: ReadonlyMap<string, Scorer>,
): Promise<Scorer[]> {
  const scorers: Scorer[] = [];
  for (const one of chosen) scorers.push(await chosenScorer(one, registered));
  const names = scorers.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw errors.scorerInvalid(
      twice,
      'two scorers have this name. Give one of them another with the option name.',
    );
  return scorers;
}

async function chosenScorer(
  { name, options }: ChosenScorer,
  registered: ReadonlyMap<string, Scorer>,
): Promise<Scorer> {
  const own = registered.get(name);
  if (own !== undefined) {
    if (options !== undefined) throw errors.scorerInvalid(name, 'a scorer of the service takes no options.');
    return own;
  }
  const make = Object.hasOwn(ready, name) ? ready[name] : undefined;
  if (make === undefined) throw errors.scorerUnknown(name, [...Object.keys(ready), ...registered.keys()]);
  try {
    // the scorer checks them: what a request sends may be anything
    return await make(namedAsInCode(options ?? {}) as never);
  } catch (error) {
    throw errors.scorerInvalid(name, error instanceof RunyardError ? error.message : reasonOf(error));
  }
}

/** `ignore_case` as `ignoreCase`: names on the wire are in snake case. */
function namedAsInCode(options: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

/** A schema of a request is untrusted: it is bounded and interpreted, and never compiled. */
async function requestedSchema(options: { readonly name?: Json; readonly schema?: Json }): Promise<Scorer> {
  const { name = 'json_schema', schema } = options;
  if (typeof name !== 'string' || name === '') throw new Error('its name is not a text.');
  if (!isJsonObject(schema)) throw new Error('its option schema is not a JSON schema.');
  const output = { outputSchema: schema, stream: false };
  await verifyOutputSchema(output);
  const shape = outputShapeOf(output);
  if (shape === null) throw new Error('its option schema is missing.');
  return {
    name,
    async score({ run }, { callApplication }) {
      const read = await shape.read(run.output, callApplication);
      return 'faults' in read
        ? { score: null, passed: false, reason: read.faults.join('\n') }
        : { score: null, passed: true };
    },
  };
}

/** What a request says must not decide which package is loaded. */
function requestedSimilarity(options: { readonly embedder?: Json }): Scorer {
  const { embedder } = options;
  if (typeof embedder !== 'string' || embedder.startsWith('ai-sdk'))
    throw new Error(
      'its option embedder is not the name of an embedder, such as openai:text-embedding-3-small.',
    );
  return similarity({ ...options, embedder });
}
