import { expect, test } from 'vitest';
import type { EvalResultStore } from '../results-store.js';
import type { StoredEval } from '../stored-eval.js';
import { compareStored } from './compare-stored.js';

/** Each eval has one case whose score and time in seconds are the number in its id. */
const results = {
  async *outcomes(id: string) {
    const score = Number(id);
    const scores = { run_time: { score, passed: null } };
    yield { position: 0, caseId: 'c', status: 'completed', scores, runTimeMs: score * 1000 };
  },
} as Pick<EvalResultStore, 'outcomes'> as EvalResultStore;

const stored = (id: string, evalType: string) =>
  ({ id, evalType, status: 'completed', datasetId: 'd', evalInput: {} }) as StoredEval;

test.each([
  ['performance', true],
  ['dataset', false],
])('in an eval of the kind %s, lower is better for run_time: %s', async (evalType, lowerIsBetter) => {
  const { comparison } = await compareStored(results, stored('1', evalType), stored('2', evalType), 0.05);
  expect(comparison.scorers).toMatchObject([{ name: 'run_time', lowerIsBetter }]);
});
