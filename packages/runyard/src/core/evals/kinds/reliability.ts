import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../json.js';
import { checkOptions } from '../../options/check-options.js';
import type { Shape } from '../../options/kind.js';
import { anyOf, flag, json, listOf, name, objectOf, recordOf } from '../../options/kinds.js';
import type { EvalCase } from '../eval-case.js';
import type { EvaluatedToolCall } from '../evaluated-run.js';
import type { Scorer } from '../scorer.js';

export interface ReliabilityOptions {
  /** Default `reliability`. */
  readonly name?: string;
  /** Names of tools, each of which has to be executed without an error. Left out: those of the case. */
  readonly expectedToolCalls?: readonly string[];
  /** Whether other tools may be called. Default false. */
  readonly allowAdditionalToolCalls?: boolean;
  /** By tool: arguments that one of its calls has to have; of a list, each entry. Left out: those of the case. */
  readonly expectedArguments?: Readonly<Record<string, JsonObject | readonly JsonObject[]>>;
}

/** What became of the expected calls and of the others. Names of tools, one entry for each call. */
export interface ReliabilityDetails {
  readonly passedToolCalls: string[];
  readonly failedToolCalls: string[];
  readonly additionalToolCalls: string[];
  readonly missingToolCalls: string[];
  readonly passedArgumentChecks: string[];
  readonly failedArgumentChecks: string[];
}

export const reliabilityShape: Shape<ReliabilityOptions> = {
  name,
  expectedToolCalls: listOf(name),
  allowAdditionalToolCalls: flag,
  expectedArguments: recordOf(anyOf(json, listOf(json, 1))),
};

/** Checks which tools a run called, with those of members and steps at any depth. No model judges. */
export function reliabilityScorer(options: ReliabilityOptions = {}): Scorer {
  checkOptions('reliabilityScorer()', options, objectOf(reliabilityShape));
  return {
    name: options.name ?? 'reliability',
    score({ case: of, run }) {
      const details = checkCalls(run.toolCalls, expectationOf(options, of));
      const { failedToolCalls, missingToolCalls, failedArgumentChecks } = details;
      const faults = [
        ...failedToolCalls.map((name) => `${name} was called`),
        ...missingToolCalls.map((name) => `${name} is missing`),
        ...failedArgumentChecks.map((name) => `${name} was not called with the expected arguments`),
      ];
      return {
        score: null,
        passed: faults.length === 0,
        ...(faults.length > 0 && { reason: faults.join('; ') }),
        details: { ...details },
      };
    },
  };
}

interface Expectation {
  /** Undefined: nothing is said about the names. An empty list: no tool may be called. */
  readonly names: readonly string[] | undefined;
  readonly allowOthers: boolean;
  readonly specs: ReadonlyMap<string, readonly JsonObject[]>;
}

function expectationOf(
  options: ReliabilityOptions,
  { id, expectedToolCalls: ofCase }: EvalCase,
): Expectation {
  const { expectedToolCalls, allowAdditionalToolCalls: allowOthers = false, expectedArguments } = options;
  const names = expectedToolCalls ?? ofCase?.map(({ name }) => name);
  if (names === undefined && expectedArguments === undefined)
    throw new Error(`the case '${id}' says nothing about the expected tool calls.`);
  const specs = new Map<string, readonly JsonObject[]>();
  if (expectedArguments !== undefined) {
    for (const [name, given] of Object.entries(expectedArguments)) specs.set(name, [given].flat());
  } else {
    for (const { name, arguments: given } of ofCase ?? [])
      if (given !== undefined) specs.set(name, [...(specs.get(name) ?? []), given]);
  }
  return { names, allowOthers, specs };
}

/** A call is clean when it was executed without an error. Only clean calls meet an expectation. */
function checkCalls(
  calls: readonly EvaluatedToolCall[],
  { names, allowOthers, specs }: Expectation,
): ReliabilityDetails {
  const clean = calls.filter(({ outcome }) => outcome === 'succeeded');
  const cleanNames = new Set(clean.map(({ name }) => name));
  const tried = new Set(calls.map(({ name }) => name));
  const others = names === undefined ? [] : calls.filter(({ name }) => !names.includes(name));
  const missing = (names ?? []).filter((name) => !cleanNames.has(name));
  const passedArgumentChecks: string[] = [];
  const failedArgumentChecks: string[] = [];
  for (const [name, expected] of specs) {
    // a missing tool has failed already
    if (missing.includes(name)) continue;
    const made = clean.filter((call) => call.name === name);
    const isMet = made.length > 0 && expected.every((spec) => made.some((call) => hasArguments(call, spec)));
    (isMet ? passedArgumentChecks : failedArgumentChecks).push(name);
  }
  const otherNames = others.map(({ name }) => name);
  return {
    passedToolCalls: clean.map(({ name }) => name).filter((name) => names?.includes(name) ?? true),
    failedToolCalls: allowOthers ? [] : otherNames,
    additionalToolCalls: allowOthers ? otherNames : [],
    missingToolCalls: missing.map((name) =>
      tried.has(name) ? `${name} (requested but refused/errored)` : name,
    ),
    passedArgumentChecks,
    failedArgumentChecks,
  };
}

function hasArguments({ arguments: given }: EvaluatedToolCall, spec: JsonObject): boolean {
  return Object.entries(spec).every(
    ([key, value]) => Object.hasOwn(given, key) && isDeepStrictEqual(given[key], value),
  );
}
