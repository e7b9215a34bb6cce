import { errors } from '../../errors/errors.js';
import type { JsonObject } from '../../json.js';
import { withoutUndefined } from '../../objects.js';
import { checkOptions, ownerOf } from '../../options/check-options.js';
import type { Shape } from '../../options/kind.js';
import { anyOf, anything, json, listOf, name, objectOf, required } from '../../options/kinds.js';
import { storable } from '../../storable-json.js';
import type { EvalCase, ExpectedToolCall } from '../eval-case.js';
import { DuplicateCase, withIds } from './case-ids.js';
import { CaseFault, caseFromFields, datasetBounds, type GivenCase } from './given-case.js';

/** A named list of cases. */
export interface Dataset {
  readonly name: string;
  /** The cases, each with its id. Those of a file are read when they are asked for first. */
  cases(): Promise<readonly EvalCase[]>;
}

export interface DatasetOptions {
  readonly name: string;
  readonly cases: readonly GivenCase[];
}

const caseShape: Shape<GivenCase> = {
  id: name,
  input: required(anyOf(name, json)),
  expectedOutput: anything,
  expectedToolCalls: listOf(
    anyOf(name, objectOf<ExpectedToolCall>({ name: required(name), arguments: json })),
  ),
  metadata: json,
  sessionState: json,
  dependencies: json,
};

const shape: Shape<DatasetOptions> = {
  name: required(name),
  cases: required(listOf(objectOf<GivenCase>(caseShape), 1)),
};

/** Names a list of cases, so that evals of it can be compared. Two cases with the same id are refused. */
export function dataset(options: DatasetOptions): Dataset {
  const owner = ownerOf('Dataset', options);
  checkOptions(owner, options, objectOf<DatasetOptions>(shape));
  const { length } = options.cases;
  if (length > datasetBounds.cases)
    throw errors.invalidConfig(
      `${owner}: ${length} cases are too many; the limit is ${datasetBounds.cases}.`,
    );
  const cases = namedCases(owner, options.cases);
  return { name: options.name, cases: () => Promise.resolve(cases) };
}

function namedCases(owner: string, given: readonly GivenCase[]): readonly EvalCase[] {
  const read = given.map((one, index) => {
    try {
      return caseFromFields(fieldsOfGiven(one, `${owner}: cases[${index}]`));
    } catch (error) {
      throw error instanceof CaseFault ? refused(owner, index, error) : error;
    }
  });
  try {
    return withIds(read);
  } catch (error) {
    throw error instanceof DuplicateCase ? refused(owner, error.index, error) : error;
  }
}

function refused(owner: string, index: number, { message }: CaseFault): Error {
  return errors.invalidConfig(`${owner}: cases[${index}]: ${message}`);
}

/** In the words of files: there is one way to read a case. */
function fieldsOfGiven(given: GivenCase, subject: string): JsonObject {
  const fields = withoutUndefined({
    id: given.id,
    input: given.input,
    expected_output: given.expectedOutput,
    expected_tool_calls: given.expectedToolCalls,
    metadata: given.metadata,
    session_state: given.sessionState,
    dependencies: given.dependencies,
  });
  // a copy of an object is an object
  return storable(fields, subject) as JsonObject;
}
