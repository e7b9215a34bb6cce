import { define } from './runyard-error.js';

/** Datasets of evals, and their files. */
export const datasetErrors = {
  datasetNotFound: define('dataset_not_found', 404, (id: string) => `Dataset with id '${id}' not found`),
  datasetNameNotFound: define('dataset_not_found', 404, (name: string) => `Dataset '${name}' not found`),
  datasetExists: define(
    'dataset_exists',
    409,
    (name: string) =>
      `A dataset with the name '${name}' exists. Choose another name, or change that dataset.`,
  ),
  datasetCaseNotFound: define(
    'dataset_case_not_found',
    404,
    (id: string) => `Case '${id}' not found in this dataset`,
  ),
  datasetChanging: define(
    'dataset_changing',
    409,
    (name: string) => `Dataset '${name}' changes while its cases are read. Try again.`,
  ),
  /** `place` is a line or a case, such as `line 3`. */
  datasetFileInvalid: define(
    'dataset_file_invalid',
    400,
    (file: string, place: string | undefined, fault: string) =>
      `${file}${place === undefined ? '' : `, ${place}`}: ${fault}`,
  ),
  runNotEnded: define(
    'run_not_ended',
    409,
    (runId: string) => `Run ${runId} has not ended. Add it to the dataset when it has.`,
  ),
} as const;
