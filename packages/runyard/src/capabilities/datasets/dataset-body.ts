import { fieldsOfCase } from '../../core/evals/datasets/given-case.js';
import type { EvalCase } from '../../core/evals/eval-case.js';
import type { StoredCase, StoredDataset, Written } from './stored-dataset.js';

export function datasetBodyOf(dataset: StoredDataset) {
  return {
    id: dataset.id,
    user_id: dataset.userId,
    name: dataset.name,
    description: dataset.description,
    metadata: dataset.metadata,
    revision: dataset.revision,
    case_count: dataset.caseCount,
    created_at: wholeSeconds(dataset.createdAt),
    updated_at: wholeSeconds(dataset.updatedAt),
  };
}

export function storedCaseBodyOf(stored: StoredCase) {
  return {
    ...caseBodyOf(stored.case),
    created_at: wholeSeconds(stored.createdAt),
    updated_at: wholeSeconds(stored.updatedAt),
  };
}

const absent = {
  expected_output: null,
  expected_tool_calls: null,
  metadata: null,
  session_state: null,
  dependencies: null,
};

export function caseBodyOf(one: EvalCase) {
  return { ...absent, ...fieldsOfCase(one) };
}

export function writtenBodyOf({ added, updated, revision }: Written) {
  return { added, updated, revision };
}

/** One line of JSON for each case, without what the case does not have. */
export async function* caseLines(cases: AsyncIterable<StoredCase>): AsyncIterable<string> {
  for await (const stored of cases) yield `${JSON.stringify(fieldsOfCase(stored.case))}\n`;
}

function wholeSeconds(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
