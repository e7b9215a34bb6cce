import { z } from 'zod';
import { defaultLevel, largestLevel, smallestLevel } from '../../../core/evals/comparison/compare-evals.js';
import { lazyObject } from '../../../core/schemas/lazy-schema.js';
import { databaseQuery } from '../../../platform/http/request/database-query.js';
import { largestPage, pageBody, pageQuery } from '../../../platform/http/request/pagination.js';

const levelText = `The level is a number from ${smallestLevel} to ${largestLevel}`;

export const comparisonQuery = lazyObject(() => ({
  with: z.string().min(1).meta({ description: 'The id of the eval to compare with: the one before.' }),
  level: z
    .string()
    .regex(/^\s*\d*\.?\d+\s*$/, { message: levelText })
    .transform(Number)
    .pipe(z.number().min(smallestLevel).max(largestLevel))
    .default(defaultLevel)
    .meta({
      type: 'number',
      minimum: smallestLevel,
      maximum: largestLevel,
      description: `How often, at the most, chance may be called significant. Default: ${defaultLevel}.`,
    }),
  change: z
    .enum(['better', 'worse', 'same', 'added', 'removed', 'unscored'])
    .optional()
    .meta({ description: 'Only cases that changed like this.' }),
  ...pageQuery({ default: 100, max: largestPage }),
  ...databaseQuery(),
}));

const number = () => z.number().nullable();

const statistics = lazyObject(
  () => ({
    count: z.int(),
    mean: number(),
    min: number(),
    max: number(),
    std_dev: number(),
    median: number(),
    p95: number(),
  }),
  { id: 'ScoreStatistics', description: 'Statistics of scores; null where there are none.' },
);

const difference = () =>
  z
    .object({
      mean: z.number(),
      low: number().meta({ description: 'The lower bound of the confidence interval.' }),
      high: number().meta({ description: 'The upper bound of the confidence interval.' }),
    })
    .nullable()
    .meta({
      description:
        'The mean of this eval minus that of the other, with its confidence interval at 1 - level. The bounds are null ' +
        'where the values do not say how precise the mean is.',
    });

const tested = () => ({
  before: statistics,
  after: statistics,
  difference: difference(),
  p_value: number().meta({
    description: 'The probability of a difference at least this large if nothing had changed.',
  }),
  significant: z.boolean(),
});

const count = () => z.int();

const comparedCase = lazyObject(
  () => ({
    case_id: z.string(),
    scorer: z.string(),
    change: z.string().meta({
      description:
        'better, worse, same, added, removed, or unscored: one of the evals has no score, although the run completed.',
    }),
    ...tested(),
  }),
  { id: 'ComparedCase', description: 'One case of two evals, by one scorer.' },
);

const page = pageBody(comparedCase, 'ComparedCasesPage');

export const comparisonBody = lazyObject(
  () => ({
    eval_run_id: z.string(),
    with: z.string(),
    level: z.number(),
    warnings: z.array(z.string()).meta({
      description: 'Why the difference may have other reasons, such as a dataset that changed meanwhile.',
    }),
    failed_runs: z
      .object({ before: count(), after: count() })
      .meta({ description: 'Runs that did not complete. A failed run has not passed.' }),
    scorers: z.array(
      z.object({
        name: z.string(),
        lower_is_better: z.boolean(),
        changes: z.object({
          better: count(),
          worse: count(),
          same: count(),
          added: count(),
          removed: count(),
          unscored: count(),
        }),
        ...tested(),
      }),
    ),
    ...page.shape,
  }),
  {
    id: 'EvalComparison',
    description: 'Two evals, by scorer and case by case. `data` holds a page of the cases.',
  },
);
