import { errors, type ValidationItem } from '../../core/errors/errors.js';
import { DuplicateCase, withIds } from '../../core/evals/datasets/case-ids.js';
import {
  CaseFault,
  caseFromFields,
  fieldsOfCase,
  type UnnamedCase,
} from '../../core/evals/datasets/given-case.js';
import type { EvalCase } from '../../core/evals/eval-case.js';
import { newId } from '../../core/ids.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { DatabaseQuery } from '../../platform/http/request/database-query.js';
import { type ListPage, offsetOf, type PageRequest } from '../../platform/http/request/pagination.js';
import type { RunsService } from '../runs/service.js';
import type { DatabaseDatasets } from './database-datasets.js';
import { fieldsOfRun, type TakenFields } from './run-case.js';
import type { DatasetOrder } from './store.js';
import type { DatasetChange, StoredCase, StoredDataset, Written } from './stored-dataset.js';

/** Where the datasets are: one part for each database, of which a request chooses one. */
export interface DatasetSpaces {
  choose(query: DatabaseQuery): Promise<{ readonly datasets: DatabaseDatasets }>;
}

/** Cases to add: a list, one by its fields, or one made of a run. */
export interface GivenCases {
  readonly cases?: readonly JsonObject[];
  readonly runId?: string;
  readonly taken: TakenFields;
  /** Of a single case. With a run, they take the place of what the run says. */
  readonly fields: JsonObject;
}

/** What was added, and what became of it. */
export interface AddedCases extends Written {
  readonly cases: readonly EvalCase[];
}

/** A file of cases that a request brings. */
export interface ImportedFile {
  /** Its extension says the format. */
  readonly name: string;
  bytes(): Uint8Array;
  /** Lets go of the bytes. */
  release(): void;
}

type Location = readonly (string | number)[];

/** Stored datasets. Each belongs to who made it. */
export class DatasetsService {
  constructor(
    private readonly spaces: DatasetSpaces,
    private readonly runs: RunsService,
  ) {}

  async list(
    { scope }: Caller,
    database: DatabaseQuery,
    name: string | undefined,
    order: DatasetOrder,
    page: PageRequest,
  ): Promise<ListPage<StoredDataset>> {
    const { store } = await this.datasets(database);
    return store.list(scope, name, order, { limit: page.limit, offset: offsetOf(page) });
  }

  async create(
    { userId }: Caller,
    database: DatabaseQuery,
    given: DatasetChange & { readonly name: string },
  ): Promise<StoredDataset> {
    const { store } = await this.datasets(database);
    const now = Date.now();
    const dataset: StoredDataset = {
      id: newId(),
      userId,
      name: given.name,
      description: given.description ?? null,
      metadata: given.metadata ?? null,
      revision: 0,
      caseCount: 0,
      createdAt: now,
      updatedAt: now,
    };
    await store.insert(dataset);
    return dataset;
  }

  async get({ scope }: Caller, database: DatabaseQuery, datasetId: string): Promise<StoredDataset> {
    const found = await (await this.datasets(database)).store.find(scope, datasetId);
    if (found === undefined) throw errors.datasetNotFound(datasetId);
    return found;
  }

  /** Changes what is given. The cases and their revision stay. */
  async update(
    { scope }: Caller,
    database: DatabaseQuery,
    datasetId: string,
    change: DatasetChange,
  ): Promise<StoredDataset> {
    const { store } = await this.datasets(database);
    const changed = await store.update(scope, datasetId, change, Date.now());
    if (changed === undefined) throw errors.datasetNotFound(datasetId);
    return changed;
  }

  async remove({ scope }: Caller, database: DatabaseQuery, datasetId: string): Promise<void> {
    const { store } = await this.datasets(database);
    if (!(await store.remove(scope, datasetId))) throw errors.datasetNotFound(datasetId);
  }

  async cases(
    caller: Caller,
    database: DatabaseQuery,
    datasetId: string,
    page: PageRequest,
  ): Promise<ListPage<StoredCase>> {
    const { caseCount } = await this.get(caller, database, datasetId);
    const { cases } = await this.datasets(database);
    const offset = offsetOf(page);
    return {
      items: offset < caseCount ? await cases.page(datasetId, page.limit, offset) : [],
      total: caseCount,
    };
  }

  /** All cases, read as they are taken. The dataset is found before that. */
  async export(
    caller: Caller,
    database: DatabaseQuery,
    datasetId: string,
  ): Promise<{ readonly dataset: StoredDataset; readonly cases: AsyncIterable<StoredCase> }> {
    const dataset = await this.get(caller, database, datasetId);
    const { cases } = await this.datasets(database);
    return { dataset, cases: cases.all(datasetId) };
  }

  /** Adds cases. One with the id of a stored case takes its place. */
  async addCases(
    caller: Caller,
    database: DatabaseQuery,
    datasetId: string,
    given: GivenCases,
  ): Promise<AddedCases> {
    await this.get(caller, database, datasetId);
    const { cases } = await this.datasets(database);
    const added = given.cases === undefined ? [await this.oneCase(caller, given)] : listedCases(given.cases);
    const written = await cases.write(caller.scope, datasetId, added, Date.now());
    return { ...written, cases: added };
  }

  /** Adds the cases of a file, or puts them in the place of all. */
  async importFile(
    caller: Caller,
    database: DatabaseQuery,
    datasetId: string,
    file: ImportedFile,
    replacesAll: boolean,
  ): Promise<Written> {
    await this.get(caller, database, datasetId);
    const { cases } = await this.datasets(database);
    // parsers of files are loaded for those who use them
    const { readCases } = await import('../../platform/datasets/read-cases.js');
    const read = await readCases({ name: file.name, open: () => inPieces(file.bytes()) });
    file.release();
    return cases.write(caller.scope, datasetId, read, Date.now(), replacesAll);
  }

  /** Changes what is given of a case: null removes it. */
  async changeCase(
    caller: Caller,
    database: DatabaseQuery,
    datasetId: string,
    caseId: string,
    fields: JsonObject,
  ): Promise<StoredCase> {
    const { cases } = await this.datasets(database);
    return cases.change(caller.scope, datasetId, caseId, Date.now(), (old) => ({
      ...readCase({ ...fieldsOfCase(old), ...fields }, []),
      id: caseId,
    }));
  }

  async removeCase(
    { scope }: Caller,
    database: DatabaseQuery,
    datasetId: string,
    caseId: string,
  ): Promise<void> {
    const { cases } = await this.datasets(database);
    await cases.remove(scope, datasetId, caseId, Date.now());
  }

  private async oneCase(caller: Caller, { runId, taken, fields }: GivenCases): Promise<EvalCase> {
    if (runId === undefined) return onlyCase(readCase(fields, []));
    const ofRun = await fieldsOfRun(this.runs, caller, runId, taken);
    const metadata = { ...objectOr(fields.metadata), ...objectOr(ofRun.metadata) };
    return onlyCase(readCase({ ...ofRun, ...fields, metadata }, []));
  }

  private async datasets(database: DatabaseQuery): Promise<DatabaseDatasets> {
    return (await this.spaces.choose(database)).datasets;
  }
}

function objectOr(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function onlyCase(one: UnnamedCase): EvalCase {
  const [named] = withIds([one]);
  // a list of one has one
  return named!;
}

function listedCases(cases: readonly JsonObject[]): EvalCase[] {
  const read = cases.map((fields, index) => readCase(fields, ['cases', index]));
  try {
    return withIds(read);
  } catch (error) {
    throw error instanceof DuplicateCase ? invalid(error, ['cases', error.index], cases[error.index]) : error;
  }
}

function readCase(fields: JsonObject, at: Location): UnnamedCase {
  try {
    return caseFromFields(fields);
  } catch (error) {
    throw error instanceof CaseFault ? invalid(error, at, fields) : error;
  }
}

function invalid({ field, fault }: CaseFault, at: Location, fields: JsonObject | undefined): Error {
  const item: ValidationItem = {
    type: 'value_error',
    loc: ['body', ...at, ...(field === undefined ? [] : [field])],
    msg: `Value error, ${fault}`,
    input: (field && fields?.[field]) ?? null,
  };
  return errors.invalidRequest([item]);
}

const pieceBytes = 65_536;

/** Other work has its turn between the pieces. */
async function* inPieces(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += pieceBytes) {
    yield bytes.subarray(start, start + pieceBytes);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
