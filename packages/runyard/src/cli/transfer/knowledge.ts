import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import { planOf } from './plan.js';
import { fields, type TransferService } from './service.js';
import { isSame, type TransferKind } from './thing.js';

const schema = z.strictObject({
  /** The name of the knowledge base, which the code defines. */
  knowledge: z.string(),
  name: z.string(),
  description: z.string().optional(),
  metadata: z.record(z.string(), z.custom<Json>()).optional(),
  /** Where it comes from. Bytes that a caller sent are not part of an export. */
  from: z.union([
    z.strictObject({ url: z.union([z.string(), z.array(z.string())]) }),
    z.strictObject({
      source: z.string(),
      path: z.string(),
      parameters: z.record(z.string(), z.string()).optional(),
    }),
    z.strictObject({ file: z.string() }),
    z.strictObject({ text: z.literal(true) }),
  ]),
  reader_id: z.string().optional(),
  chunker: z.string().optional(),
  chunk_size: z.int().optional(),
  chunk_overlap: z.int().optional(),
});
type ContentFile = z.output<typeof schema>;

interface Stored {
  readonly knowledge: string;
  readonly knowledgeId: string;
  readonly body: JsonObject;
}

const indexing = ['reader_id', 'chunker', 'chunk_size', 'chunk_overlap'] as const;

/** What knowledge bases index: addresses and files of sources. The knowledge bases themselves are defined in code. */
export const knowledge: TransferKind = {
  folder: 'knowledge',

  async export(service) {
    const stored = await storedContents(service);
    return stored.map(({ knowledge: base, body }) => ({
      name: `${base}--${body.name}`,
      content: contentOf(base, body),
    }));
  },

  async plan(service, files) {
    const bases = await basesOf(service);
    const stored = await storedContents(service);
    const key = (base: string, name: Json | undefined) => JSON.stringify([base, name ?? '']);
    return planOf<ContentFile, Stored>(files, {
      schema,
      key: (content) => key(content.knowledge, content.name),
      name: ({ knowledge: base, name }) => `${base}: ${name}`,
      stored: new Map(stored.map((one) => [key(one.knowledge, one.body.name), one])),
      nameOfStored: ({ knowledge: base, body }) => `${base}: ${body.name}`,
      differences: (content, { knowledge: base, body }) => {
        const now = contentOf(base, body);
        const names = Object.keys({ ...now, ...content });
        return names.filter((name) => !isSame(now[name], fields(content)[name]));
      },
      create: (content) => add(service, content, idOf(bases, content.knowledge)),
      change: (content, one) => change(service, content, one),
      remove: (one) => remove(service, one),
    });
  },
};

function idOf(bases: ReadonlyMap<string, string>, name: string): string {
  const id = bases.get(name);
  if (id !== undefined) return id;
  throw new Error(
    `There is no knowledge base '${name}'. The code defines: ${[...bases.keys()].join(', ') || 'none'}.`,
  );
}

/** Adds the content. It is indexed in the background. */
async function add(service: TransferService, content: ContentFile, knowledgeId: string): Promise<void> {
  const { from, name, description, metadata } = content;
  const form = new FormData();
  form.set('name', name);
  if (description !== undefined) form.set('description', description);
  if (metadata !== undefined) form.set('metadata', JSON.stringify(metadata));
  for (const key of indexing) if (content[key] !== undefined) form.set(key, String(content[key]));
  const query = `?knowledge_id=${encodeURIComponent(knowledgeId)}`;
  if ('url' in from) {
    form.set('url', typeof from.url === 'string' ? from.url : JSON.stringify(from.url));
    await service.send('POST', `/knowledge/content${query}`, form);
  } else if ('source' in from) {
    form.set('config_id', from.source);
    form.set('path', from.path);
    if (from.parameters !== undefined) form.set('source_params', JSON.stringify(from.parameters));
    await service.send('POST', `/knowledge/remote-content${query}`, form);
  } else {
    const what = 'file' in from ? `the file ${from.file}` : 'a text';
    throw new Error(
      `is ${what} that a caller sent: an export has no bytes. Add it with POST /knowledge/content.`,
    );
  }
}

/** What is indexed otherwise is added anew; what is said about it is changed in place. */
async function change(service: TransferService, content: ContentFile, stored: Stored): Promise<void> {
  const { knowledge: base, knowledgeId, body } = stored;
  const now = contentOf(base, body);
  if (!isSame(now.from, content.from) || indexing.some((name) => !isSame(now[name], content[name]))) {
    await add(service, content, knowledgeId);
    const [after] = (await contentsOf(service, base, knowledgeId)).filter(
      (one) => one.body.name === content.name && one.body.id !== body.id,
    );
    if (after !== undefined) await remove(service, stored);
    return;
  }
  const form = new FormData();
  form.set('description', content.description ?? '');
  form.set('metadata', JSON.stringify(content.metadata ?? {}));
  const gone = Object.keys(fields(now.metadata ?? null)).filter(
    (name) => !(name in (content.metadata ?? {})),
  );
  if (gone.length > 0) form.set('remove_metadata', JSON.stringify(gone));
  await service.send('PATCH', contentPath(stored), form);
}

async function remove(service: TransferService, stored: Stored): Promise<void> {
  await service.send('DELETE', contentPath(stored));
}

function contentPath({ knowledgeId, body }: Stored): string {
  return `/knowledge/content/${body.id}?knowledge_id=${encodeURIComponent(knowledgeId)}`;
}

function contentOf(base: string, body: JsonObject): JsonObject {
  const { name, description, metadata } = body;
  const { from, ...how } = fields(body.definition ?? null);
  const { _agno: _, ...own } = fields(metadata ?? null);
  return {
    knowledge: base,
    name: name ?? '',
    ...(description != null && description !== '' && { description }),
    ...(Object.keys(own).length > 0 && { metadata: own }),
    from: from ?? null,
    ...how,
  };
}

async function storedContents(service: TransferService): Promise<Stored[]> {
  const found: Stored[] = [];
  for (const [name, id] of await basesOf(service)) found.push(...(await contentsOf(service, name, id)));
  return found;
}

/** The files of a folder come with the folder. */
async function contentsOf(service: TransferService, name: string, id: string): Promise<Stored[]> {
  const query = `knowledge_id=${encodeURIComponent(id)}&include_definition=true&sort_by=name&sort_order=asc`;
  const contents = await service.all(`/knowledge/content?${query}`);
  return contents
    .filter(({ metadata }) => fields(fields(metadata ?? null)._agno ?? null).parent_id === undefined)
    .map((body) => ({ knowledge: name, knowledgeId: id, body }));
}

/** The knowledge bases of the service: their ids by their names. */
async function basesOf(service: TransferService): Promise<ReadonlyMap<string, string>> {
  const { knowledge: section } = fields(await service.get('/config'));
  const { knowledge_instances: instances } = fields(section ?? null);
  const list = Array.isArray(instances) ? instances.filter(isJsonObject) : [];
  return new Map(list.map(({ name, id }) => [String(name), String(id)]));
}
