import { z } from 'zod';
import { createDatasetBody } from '../../capabilities/datasets/schema.js';
import { datasetBounds } from '../../core/evals/datasets/given-case.js';
import type { Json, JsonObject } from '../../core/json.js';
import { planOf } from './plan.js';
import { fields, type TransferService } from './service.js';
import { isSame, type TransferKind } from './thing.js';

const schema = createDatasetBody
  .extend({
    /** Whose it is. Left out: no user's, or with a token that of its holder. */
    user_id: z.string().optional(),
    /** Left out: the service's own. */
    database: z.string().optional(),
    cases: z.array(z.record(z.string(), z.custom<Json>())).max(datasetBounds.cases),
  })
  .strict();
type DatasetFile = z.output<typeof schema>;

interface Stored {
  readonly body: JsonObject;
  readonly database: string | undefined;
  readonly cases: readonly JsonObject[];
}

/** Datasets with their cases. */
export const datasets: TransferKind = {
  folder: 'datasets',

  async export(service) {
    return (await storedDatasets(service)).map(({ body, database, cases }) => {
      const { name, description, metadata, user_id: userId } = body;
      return {
        name: String(name),
        content: {
          name: name ?? null,
          ...(description != null && { description }),
          ...(metadata != null && { metadata }),
          ...(userId != null && { user_id: userId }),
          ...(database !== undefined && { database }),
          cases: [...cases],
        },
      };
    });
  },

  async plan(service, files) {
    const stored = new Map(
      (await storedDatasets(service)).map((one) => [keyOf(one.body, one.database), one]),
    );
    return planOf<DatasetFile, Stored>(files, {
      schema,
      key: (content) => ownKey(content, stored, service.actsAsUsers),
      name: ({ name }) => name,
      stored,
      nameOfStored: ({ body }) => String(body.name),
      differences,
      create: (content) => create(service, content),
      change: (content, one) => change(service, content, one),
      remove: async ({ body, database }) => {
        await service.send('DELETE', `/datasets/${body.id}${inDatabase(database)}`);
      },
    });
  },
};

/** What identifies a dataset: users have names of their own. */
function keyOf(
  { name, user_id: userId }: Readonly<Record<string, Json | undefined>>,
  database: string | undefined,
): string {
  return JSON.stringify([name, userId ?? null, database ?? null]);
}

/** With a token, what is imported belongs to its holder, who may be another one than the file names. */
function ownKey(content: DatasetFile, stored: ReadonlyMap<string, Stored>, actsAsUsers: boolean): string {
  const { name, user_id, database } = content;
  const exact = keyOf({ name, user_id }, database);
  const owners = new Set(Array.from(stored.values(), ({ body }) => body.user_id));
  // one who sees the datasets of several users may not take one of them for their own
  if (actsAsUsers || stored.has(exact) || owners.size !== 1) return exact;
  return keyOf({ name, user_id: [...owners][0] }, database);
}

function differences({ name: _, description, metadata, cases }: DatasetFile, stored: Stored): string[] {
  const found: string[] = [];
  if (!isSame(description, stored.body.description)) found.push('description');
  if (!isSame(metadata, stored.body.metadata)) found.push('metadata');
  if (!isSame(cases, stored.cases))
    found.push(`cases (${stored.cases.length} before, ${cases.length} after)`);
  return found;
}

/** A dataset whose cases are refused is not left behind without them. */
async function create(service: TransferService, content: DatasetFile): Promise<void> {
  const { name, description, metadata, user_id: userId, database, cases } = content;
  const body = { name, description: description ?? null, metadata: metadata ?? null };
  const made = fields(await service.send('POST', `/datasets${inDatabase(database)}`, body, userId));
  try {
    await replaceCases(service, String(made.id), database, cases);
  } catch (error) {
    await service.send('DELETE', `/datasets/${made.id}${inDatabase(database)}`);
    throw error;
  }
}

/** The cases first: they are what a service may refuse. */
async function change(service: TransferService, content: DatasetFile, stored: Stored): Promise<void> {
  const { description, metadata, cases, database } = content;
  const id = String(stored.body.id);
  if (cases.length === 0) await removeCases(service, id, stored);
  else if (!isSame(cases, stored.cases)) await replaceCases(service, id, database, cases);
  const about = { description: description ?? null, metadata: metadata ?? null };
  if (!isSame(about.description, stored.body.description) || !isSame(about.metadata, stored.body.metadata))
    await service.send('PATCH', `/datasets/${id}${inDatabase(database)}`, about);
}

async function replaceCases(
  service: TransferService,
  id: string,
  database: string | undefined,
  cases: readonly JsonObject[],
): Promise<void> {
  if (cases.length === 0) return;
  const form = new FormData();
  form.set('replace', 'true');
  form.set('file', new Blob([cases.map((one) => JSON.stringify(one)).join('\n')]), 'cases.jsonl');
  await service.send('POST', `/datasets/${id}/import${inDatabase(database)}`, form);
}

/** A file of cases has at least one. */
async function removeCases(service: TransferService, id: string, { cases, database }: Stored): Promise<void> {
  for (const { id: caseId } of cases)
    await service.send(
      'DELETE',
      `/datasets/${id}/cases/${encodeURIComponent(String(caseId))}${inDatabase(database)}`,
    );
}

async function storedDatasets(service: TransferService): Promise<Stored[]> {
  const found: Stored[] = [];
  for (const database of await databasesOf(service)) {
    const list = await service.all(`/datasets${inDatabase(database, 'sort_by=name&sort_order=asc')}`);
    for (const body of list) {
      const lines = await service.text('GET', `/datasets/${body.id}/export${inDatabase(database)}`);
      found.push({ body, database, cases: lines.split('\n').filter(Boolean).map(line) });
    }
  }
  return found;
}

/** The databases by their ids; a service with one needs no id. */
async function databasesOf(service: TransferService): Promise<readonly (string | undefined)[]> {
  const { databases } = fields(await service.get('/config'));
  if (!Array.isArray(databases) || databases.length < 2) return [undefined];
  return databases.map(String);
}

function inDatabase(database: string | undefined, query = ''): string {
  const words = [query, ...(database === undefined ? [] : [`db_id=${encodeURIComponent(database)}`])];
  const whole = words.filter(Boolean).join('&');
  return whole === '' ? '' : `?${whole}`;
}

function line(text: string): JsonObject {
  return fields(JSON.parse(text));
}
