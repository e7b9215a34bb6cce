import { z } from 'zod';
import { datasetBounds } from '../../core/evals/datasets/given-case.js';
import type { Json } from '../../core/json.js';
import { lazyObject } from '../../core/schemas/lazy-schema.js';
import { databaseQuery } from '../../platform/http/request/database-query.js';
import { formBoolean, identifier, uploadedFiles } from '../../platform/http/request/fields.js';
import { largestPage, pageBody, pageQuery } from '../../platform/http/request/pagination.js';
import { datasetSorts } from './store.js';

/** How many cases one request adds; a file may have more. */
const mostCasesAtOnce = 1_000;

export const datasetParams = lazyObject(() => ({
  dataset_id: z.string().meta({ description: 'The identifier of the dataset.' }),
}));

export const caseParams = lazyObject(() => ({
  ...datasetParams.shape,
  case_id: z.string().meta({ description: 'The identifier of the case within its dataset.' }),
}));

export const datasetQuery = lazyObject(databaseQuery);

export const listDatasetsQuery = lazyObject(() => ({
  name: z.string().optional().meta({ description: 'Only the dataset with this name.' }),
  ...pageQuery({ default: 20, max: largestPage }),
  sort_by: z.enum(datasetSorts).default('created_at').meta({ description: 'What the list is sorted by.' }),
  sort_order: z
    .enum(['asc', 'desc'])
    .default('desc')
    .meta({ description: 'asc: smallest or oldest first; desc: largest or newest first.' }),
  ...databaseQuery(),
}));

export const listCasesQuery = lazyObject(() => ({
  ...pageQuery({ default: 100, max: largestPage }),
  ...databaseQuery(),
}));

const givenObject = () => z.record(z.string(), z.custom<Json>());
const givenName = () => identifier().min(1).meta({ description: 'Unique among the datasets of its owner.' });
const givenDescription = () => z.string().max(10_000).nullish();

export const createDatasetBody = lazyObject(
  () => ({
    name: givenName(),
    description: givenDescription(),
    metadata: givenObject().nullish(),
  }),
  {
    id: 'DatasetCreate',
    description: 'A dataset to create. Cases are added afterwards.',
    examples: [{ name: 'support questions', description: 'What customers asked in May' }],
  },
);

export const updateDatasetBody = lazyObject(
  () => ({
    name: givenName().optional(),
    description: givenDescription().meta({ description: 'null clears it.' }),
    metadata: givenObject().nullish().meta({ description: 'Replaces the metadata; null clears it.' }),
  }),
  {
    id: 'DatasetUpdate',
    description: 'Changes to a dataset. Omitted fields keep their values.',
    examples: [{ name: 'support questions, May' }],
  },
);

const text = () => z.string().max(datasetBounds.caseCharacters);

const givenCase = () => ({
  input: z
    .union([text(), givenObject()])
    .nullish()
    .meta({
      description: 'The message for the component; an object if it has an input schema.',
      examples: ['What is the capital of France?'],
    }),
  expected_output: z
    .custom<Json>()
    .nullish()
    .meta({
      description: 'A text, or a JSON value if the component has an output schema.',
      examples: ['Paris'],
    }),
  expected_tool_calls: z
    .array(
      z.union([z.string().min(1), z.object({ name: z.string().min(1), arguments: givenObject().nullish() })]),
    )
    .max(datasetBounds.expectedToolCalls)
    .nullish()
    .meta({
      description: 'Names of tools, or objects with name and a part of the arguments that a call must have.',
      examples: [['search', { name: 'add', arguments: { a: 1 } }]],
    }),
  metadata: givenObject().nullish(),
  session_state: givenObject().nullish().meta({ description: 'The session state that the run starts with.' }),
  dependencies: givenObject().nullish().meta({ description: 'The dependencies of the run.' }),
});

const givenCaseId = () => identifier().min(1).nullish();

export const addCasesBody = lazyObject(
  () => ({
    id: givenCaseId().meta({
      description:
        'Identifies the case within the dataset. Default: made from the input, or the id of the run. A stored case ' +
        'with this id is replaced.',
    }),
    ...givenCase(),
    cases: z
      .array(
        z.object({
          id: givenCaseId().meta({
            description: 'Default: made from the input, with a number if it is repeated.',
          }),
          ...givenCase(),
        }),
      )
      .min(1)
      .max(mostCasesAtOnce)
      .nullish()
      .meta({ description: 'Several cases, in place of the fields of one.' }),
    run_id: z
      .string()
      .nullish()
      .meta({
        description:
          'Makes a case of this run, which has ended and which the caller may read. Fields that are given take the ' +
          'place of those of the run; the metadata names the run.',
      }),
    take_output: z
      .boolean()
      .default(true)
      .meta({ description: 'With run_id: whether the output of a completed run is the expected output.' }),
    take_tool_calls: z
      .boolean()
      .default(false)
      .meta({ description: 'With run_id: whether the tool calls that succeeded are the expected ones.' }),
  }),
  {
    id: 'DatasetCasesAdd',
    description: 'Cases to add: one by its fields, several, or one made of a run.',
    examples: [{ input: 'What is the capital of France?', expected_output: 'Paris' }],
  },
);

export type AddCasesBody = z.output<typeof addCasesBody>;

export const changeCaseBody = lazyObject(givenCase, {
  id: 'DatasetCaseUpdate',
  description: 'Changes to a case. Omitted fields keep their values; null clears them, except input.',
  examples: [{ expected_output: 'Paris' }],
});

export const importForm = lazyObject(
  () => ({
    file: uploadedFiles()
      .max(1)
      .optional()
      .meta({
        description:
          'A file that ends in .json (an array of cases), .jsonl, .ndjson, .csv or .tsv (with a header). The fields of ' +
          'a case are id, input, expected_output, expected_tool_calls, metadata, session_state and dependencies.',
      }),
    text_content: z.string().optional().meta({ description: 'The cases as JSON Lines, in place of a file.' }),
    replace: formBoolean()
      .optional()
      .meta({ description: 'true: the cases of the file replace all cases. Default: they are added.' }),
  }),
  {
    id: 'DatasetImport',
    description: 'Cases as a file or as text: exactly one of file and text_content is required.',
    examples: [{ text_content: '{"input": "What is the capital of France?", "expected_output": "Paris"}' }],
  },
);

export type ImportForm = z.output<typeof importForm>;

const object = () => z.looseObject({});

export const datasetBody = lazyObject(
  () => ({
    id: z.string(),
    user_id: z.string().nullable().meta({ description: 'The user that the dataset belongs to.' }),
    name: z.string(),
    description: z.string().nullable(),
    metadata: object().nullable(),
    revision: z.int().meta({ description: 'Counts the changes of the cases.' }),
    case_count: z.int(),
    created_at: z.string(),
    updated_at: z.string(),
  }),
  {
    id: 'Dataset',
    description: 'A named list of cases for evals.',
    examples: [
      {
        id: '0199e4a1-7f6b-7000-8c3d-2f1f9a0b1c2d',
        user_id: 'ada',
        name: 'support questions',
        description: null,
        metadata: null,
        revision: 3,
        case_count: 120,
        created_at: '2026-11-15T00:35:48Z',
        updated_at: '2026-11-15T00:35:48Z',
      },
    ],
  },
);

export const datasetsPage = pageBody(datasetBody, 'DatasetsPage');

const caseFields = () => ({
  id: z.string(),
  input: z.string().meta({ description: 'The message; JSON text if it was given as an object.' }),
  expected_output: z.string().nullable(),
  expected_tool_calls: z.array(z.object({ name: z.string(), arguments: object().optional() })).nullable(),
  metadata: object().nullable(),
  session_state: object().nullable(),
  dependencies: object().nullable(),
});

export const caseBody = lazyObject(
  () => ({
    ...caseFields(),
    created_at: z.string(),
    updated_at: z.string(),
  }),
  { id: 'DatasetCase', description: 'A case of a dataset.' },
);

export const casesPage = pageBody(caseBody, 'DatasetCasesPage');

const written = () => ({
  added: z.int(),
  updated: z.int().meta({ description: 'Stored cases that were replaced by a case with the same id.' }),
  revision: z.int().meta({ description: 'The revision of the dataset after the change.' }),
});

export const addedBody = lazyObject(() => ({ ...written(), cases: z.array(z.object(caseFields())) }), {
  id: 'DatasetCasesAdded',
  description: 'The cases as they are stored.',
});

export const importedBody = lazyObject(
  () => ({
    ...written(),
    removed: z.int().meta({ description: 'Cases that the file replaced.' }),
  }),
  { id: 'DatasetImported', description: 'What an import changed.' },
);
