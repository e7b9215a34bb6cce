import { setImmediate as endOfTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Script } from 'node:vm';
import { errorCode } from '../../errors/error-code.js';
import { errors } from '../../errors/errors.js';
import { thrownError } from '../../errors/thrown-error.js';
import { checkOptions } from '../../options/check-options.js';
import {
  anyOf,
  flag,
  instanceOf,
  listOf,
  name,
  objectOf,
  required,
  text,
  word,
} from '../../options/kinds.js';
import { safeExpression } from '../../traces/safe-expression.js';
import type { Evidence, Score, Scorer } from '../scorer.js';

/** How much of an output is compared or searched. */
const longestOutput = 1_000_000;
/** A safe expression is fast in a text of this length. In a longer one, its time grows with the square of the length. */
const quickLength = 2_048;
const longestSearchMs = 250;

function outputOf({ run }: Evidence): string {
  const { length } = run.output;
  if (length > longestOutput)
    throw new Error(`the output has ${length} characters; at most ${longestOutput} are searched.`);
  return run.output;
}

function expectedOf({ case: of }: Evidence): string {
  if (of.expectedOutput === undefined) throw new Error(`the case '${of.id}' has no expected output.`);
  return of.expectedOutput;
}

function verdict(passed: boolean, reason: string): Score {
  return { score: null, passed, ...(!passed && { reason }) };
}

export interface ExactOptions {
  /** Default `exact`. */
  readonly name?: string;
  /** Default false. */
  readonly ignoreCase?: boolean;
}

const exactOptions = objectOf<ExactOptions>({ name, ignoreCase: flag });

/** The output is the expected output. White space around it does not count; structured content is compared as data. */
export function exact(options: ExactOptions = {}): Scorer {
  checkOptions('exact()', options, exactOptions);
  const { name: called = 'exact', ignoreCase = false } = options;
  const plain = (value: string) => (ignoreCase ? value.trim().toLowerCase() : value.trim());
  return {
    name: called,
    score(evidence) {
      const expected = expectedOf(evidence);
      const { content } = evidence.run;
      const isSame =
        plain(outputOf(evidence)) === plain(expected) ||
        (typeof content !== 'string' && isDeepStrictEqual(content, parsed(expected)));
      return verdict(isSame, 'The output is not the expected output.');
    },
  };
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

export interface ContainsOptions {
  /** Default `contains`. */
  readonly name?: string;
  /** What the output has to contain. Left out: the expected output of the case. */
  readonly texts?: string | readonly string[];
  /** Whether the output has to contain all of the texts, or any one of them. Default `all`. */
  readonly match?: 'all' | 'any';
  /** Default true. */
  readonly ignoreCase?: boolean;
}

const containsOptions = objectOf<ContainsOptions>({
  name,
  texts: anyOf(name, listOf(name, 1)),
  match: word('all', 'any'),
  ignoreCase: flag,
});

/** The output contains texts. */
export function contains(options: ContainsOptions = {}): Scorer {
  checkOptions('contains()', options, containsOptions);
  const { name: called = 'contains', texts, match = 'all', ignoreCase = true } = options;
  const plain = (value: string) => (ignoreCase ? value.toLowerCase() : value);
  return {
    name: called,
    score(evidence) {
      const output = plain(outputOf(evidence));
      const sought = [texts ?? expectedOf(evidence)].flat();
      const missing = sought.filter((one) => !output.includes(plain(one)));
      const passed = match === 'all' ? missing.length === 0 : missing.length < sought.length;
      return verdict(
        passed,
        `The output does not contain ${missing.map((one) => JSON.stringify(one)).join(', ')}.`,
      );
    },
  };
}

export interface RegexOptions {
  /** Default `regex`. */
  readonly name?: string;
  /** A regular expression, or its source. One that could keep the process busy is refused. */
  readonly pattern: RegExp | string;
  /** Whether the output must not match. Default false. */
  readonly not?: boolean;
}

const regexOptions = objectOf<RegexOptions>({
  name,
  pattern: required({
    ...anyOf(text, instanceOf(RegExp, 'a regular expression')),
    allowed: 'a regular expression, or its source',
  }),
  not: flag,
});

/** The output matches a regular expression. */
export function regex(options: RegexOptions): Scorer {
  checkOptions('regex()', options, regexOptions);
  const { name: called = 'regex', pattern, not = false } = options;
  const expression = expressionOf(pattern);
  return {
    name: called,
    async score(evidence) {
      const isFound = await isIn(outputOf(evidence), expression);
      return verdict(
        isFound !== not,
        `The output ${not ? 'matches' : 'does not match'} ${expression.source}.`,
      );
    },
  };
}

const search = new Script('output.search(expression) !== -1');

/** V8 can be stopped in the middle of a search in a context of its own only. */
async function isIn(output: string, expression: RegExp): Promise<boolean> {
  if (output.length <= quickLength) return output.search(expression) !== -1;
  // several searches that are stopped leave turns to others
  await endOfTurn();
  try {
    return search.runInNewContext({ output, expression }, { timeout: longestSearchMs }) === true;
  } catch (error) {
    if (errorCode(error) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new Error(
      `the pattern ${expression.source} takes too long in an output of ${output.length} characters.`,
    );
  }
}

function expressionOf(pattern: RegExp | string): RegExp {
  const { source, flags } = typeof pattern === 'string' ? { source: pattern, flags: '' } : pattern;
  try {
    return safeExpression(source, flags);
  } catch (error) {
    throw errors.invalidConfig(
      `regex(): the pattern ${source} cannot be used: ${thrownError(error).message}.`,
    );
  }
}
