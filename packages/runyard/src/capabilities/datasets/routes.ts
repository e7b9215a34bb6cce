import { errors } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/json.js';
import { withoutUndefined } from '../../core/objects.js';
import { pageOf } from '../../platform/http/request/pagination.js';
import { jsonPieces, reply } from '../../platform/http/response/results.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
import { caseBodyOf, caseLines, datasetBodyOf, storedCaseBodyOf, writtenBodyOf } from './dataset-body.js';
import {
  type AddCasesBody,
  addCasesBody,
  addedBody,
  caseBody,
  caseParams,
  casesPage,
  changeCaseBody,
  createDatasetBody,
  datasetBody,
  datasetParams,
  datasetQuery,
  datasetsPage,
  type ImportForm,
  importedBody,
  importForm,
  listCasesQuery,
  listDatasetsQuery,
  updateDatasetBody,
} from './schema.js';
import type { DatasetsService, GivenCases, ImportedFile } from './service.js';

export interface DatasetServices {
  readonly datasets: DatasetsService;
}

const common = { tag: 'Evals', addition: true } as const;
const read = { ...common, scope: 'evals:read' } as const;
const write = { ...common, scope: 'evals:write' } as const;
const remove = { ...common, scope: 'evals:delete' } as const;

const jsonLines = 'application/x-ndjson';

const listDatasets = defineRoute({
  ...read,
  method: 'GET',
  path: '/datasets',
  operationId: 'list_datasets',
  summary: 'List datasets',
  query: listDatasetsQuery,
  responses: { 200: datasetsPage },
  handler: async ({ datasets }: DatasetServices, { query, caller }) => {
    const order = { by: query.sort_by, direction: query.sort_order };
    const { items, total } = await datasets.list(caller, query, query.name, order, query);
    return pageOf(items.map(datasetBodyOf), query, total);
  },
});

const createDataset = defineRoute({
  ...write,
  method: 'POST',
  path: '/datasets',
  operationId: 'create_dataset',
  summary: 'Create a dataset',
  description: 'The dataset belongs to the caller. 409 if the caller has one with this name.',
  query: datasetQuery,
  body: createDatasetBody,
  responses: { 201: datasetBody },
  handler: async ({ datasets }: DatasetServices, { query, body, caller }) =>
    reply(201, datasetBodyOf(await datasets.create(caller, query, body))),
});

const getDataset = defineRoute({
  ...read,
  method: 'GET',
  path: '/datasets/:dataset_id',
  operationId: 'get_dataset',
  summary: 'Get a dataset',
  params: datasetParams,
  query: datasetQuery,
  responses: { 200: datasetBody },
  handler: async ({ datasets }: DatasetServices, { params, query, caller }) =>
    datasetBodyOf(await datasets.get(caller, query, params.dataset_id)),
});

const updateDataset = defineRoute({
  ...write,
  method: 'PATCH',
  path: '/datasets/:dataset_id',
  operationId: 'update_dataset',
  summary: 'Change a dataset',
  description: 'Replaces the given fields and keeps the others. The cases and the revision stay the same.',
  params: datasetParams,
  query: datasetQuery,
  body: updateDatasetBody,
  responses: { 200: datasetBody },
  handler: async ({ datasets }: DatasetServices, { params, query, body, caller }) =>
    datasetBodyOf(await datasets.update(caller, query, params.dataset_id, withoutUndefined(body))),
});

const deleteDataset = defineRoute({
  ...remove,
  method: 'DELETE',
  path: '/datasets/:dataset_id',
  operationId: 'delete_dataset',
  summary: 'Delete a dataset',
  description: 'Deletes the dataset with its cases. Evals of it stay.',
  params: datasetParams,
  query: datasetQuery,
  responses: { 204: { description: 'The dataset is deleted.' } },
  handler: async ({ datasets }: DatasetServices, { params, query, caller }) => {
    await datasets.remove(caller, query, params.dataset_id);
    return reply(204);
  },
});

const listCases = defineRoute({
  ...read,
  method: 'GET',
  path: '/datasets/:dataset_id/cases',
  operationId: 'list_dataset_cases',
  summary: 'List the cases of a dataset',
  description: 'In the order in which they were added.',
  params: datasetParams,
  query: listCasesQuery,
  responses: { 200: casesPage },
  handler: async ({ datasets }: DatasetServices, { params, query, caller }) => {
    const { items, total } = await datasets.cases(caller, query, params.dataset_id, query);
    return pageOf(items.map(storedCaseBodyOf), query, total);
  },
});

const addCases = defineRoute({
  ...write,
  method: 'POST',
  path: '/datasets/:dataset_id/cases',
  operationId: 'add_dataset_cases',
  summary: 'Add cases to a dataset',
  description:
    'Adds one case, several, or one made of a stored run. A case with the id of a stored one replaces it. All cases of ' +
    'a request are stored, or none.',
  params: datasetParams,
  query: datasetQuery,
  body: addCasesBody,
  responses: { 201: addedBody },
  handler: async ({ datasets }: DatasetServices, { params, query, body, caller }) => {
    const added = await datasets.addCases(caller, query, params.dataset_id, givenCases(body));
    return reply(201, { ...writtenBodyOf(added), cases: added.cases.map(caseBodyOf) });
  },
});

const changeCase = defineRoute({
  ...write,
  method: 'PATCH',
  path: '/datasets/:dataset_id/cases/:case_id',
  operationId: 'update_dataset_case',
  summary: 'Change a case',
  description: 'Replaces the given fields and keeps the others. The id of a case cannot be changed.',
  params: caseParams,
  query: datasetQuery,
  body: changeCaseBody,
  responses: { 200: caseBody },
  handler: async ({ datasets }: DatasetServices, { params, query, body, caller }) => {
    const { dataset_id: datasetId, case_id: caseId } = params;
    return storedCaseBodyOf(
      await datasets.changeCase(caller, query, datasetId, caseId, withoutUndefined(body)),
    );
  },
});

const deleteCase = defineRoute({
  ...remove,
  method: 'DELETE',
  path: '/datasets/:dataset_id/cases/:case_id',
  operationId: 'delete_dataset_case',
  summary: 'Delete a case',
  params: caseParams,
  query: datasetQuery,
  responses: { 204: { description: 'The case is deleted.' } },
  handler: async ({ datasets }: DatasetServices, { params, query, caller }) => {
    await datasets.removeCase(caller, query, params.dataset_id, params.case_id);
    return reply(204);
  },
});

const importCases = defineRoute({
  ...write,
  method: 'POST',
  path: '/datasets/:dataset_id/import',
  operationId: 'import_dataset_cases',
  summary: 'Import a file of cases',
  description:
    'Adds the cases of a file of JSON, JSON Lines or CSV, or replaces all cases by them. 400 if the file has a fault: ' +
    'the text names the line and the field, and nothing is changed.',
  accepts: 'form',
  params: datasetParams,
  query: datasetQuery,
  body: importForm,
  responses: { 200: importedBody },
  handler: async ({ datasets }: DatasetServices, { params, query, body, caller }) => {
    const { replace = false } = body;
    const written = await datasets.importFile(caller, query, params.dataset_id, givenFile(body), replace);
    return { ...writtenBodyOf(written), removed: written.removed };
  },
});

const exportCases = defineRoute({
  ...read,
  method: 'GET',
  path: '/datasets/:dataset_id/export',
  operationId: 'export_dataset_cases',
  summary: 'Export the cases of a dataset',
  description: 'JSON Lines that an import reads again: one case on each line.',
  params: datasetParams,
  query: datasetQuery,
  responses: { 200: { description: 'The cases.', contentType: jsonLines } },
  handler: async ({ datasets }: DatasetServices, { params, query, caller }) => {
    const { cases } = await datasets.export(caller, query, params.dataset_id);
    const headers = { 'content-disposition': 'attachment; filename="dataset.jsonl"' };
    return jsonPieces(caseLines(cases), headers, jsonLines);
  },
});

export const datasetRoutes: readonly Route<DatasetServices>[] = [
  listDatasets,
  createDataset,
  getDataset,
  updateDataset,
  deleteDataset,
  listCases,
  addCases,
  changeCase,
  deleteCase,
  importCases,
  exportCases,
];

function givenFile({ file: [file] = [], text_content: text }: ImportForm): ImportedFile {
  if (file !== undefined && text === undefined)
    return { name: file.filename, bytes: () => file.bytes, release: () => file.release() };
  if (file === undefined && text !== undefined)
    return { name: 'text_content.jsonl', bytes: () => Buffer.from(text), release: () => undefined };
  const msg = 'Value error, send exactly one of file and text_content';
  throw errors.invalidRequest([{ type: 'value_error', loc: ['body', 'file'], msg, input: null }]);
}

/** One case, or several, or a run: what is said twice could mean either. */
function givenCases(body: AddCasesBody): GivenCases {
  const { cases, run_id: runId, take_output, take_tool_calls, ...one } = body;
  // null counts as not given, and what a run says holds
  const fields: JsonObject = {};
  for (const [name, value] of Object.entries(one)) if (value != null) fields[name] = value;
  const [given] = Object.keys(fields);
  const other = runId != null ? 'run_id' : given;
  if (cases != null && other !== undefined)
    throw errors.invalidRequest([
      {
        type: 'value_error',
        loc: ['body', other],
        msg: 'Value error, cases cannot be combined with other fields. Send them in separate requests',
        input: runId ?? fields[other],
      },
    ]);
  return {
    fields,
    taken: { output: take_output, toolCalls: take_tool_calls },
    ...(cases != null && { cases: cases.map((entry) => withoutUndefined(entry)) }),
    ...(runId != null && { runId }),
  };
}
