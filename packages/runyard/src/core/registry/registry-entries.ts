import type { AgentSettings } from '../agents/definition.js';
import { usesMemories } from '../agents/memory/memories-in-context.js';
import { resolveEmbedder } from '../embedders/resolve.js';
import type { JsonObject } from '../json.js';
import type { Knowledge } from '../knowledge/knowledge.js';
import { describeModel, type ModelLike } from '../models/resolve.js';
import { isNative } from '../native-code.js';
import type { RunKind } from '../runs/run.js';
import { jsonSchemaOf, type ValueSchema } from '../schemas/value-schema.js';
import type { Tool } from '../tools/tool.js';
import { Toolkit } from '../tools/toolkit.js';
import type { Registered } from './named-things.js';
import type { RegisteredThings } from './registered-things.js';
import { moduleOf, toolFacts, toolsOfKit } from './tool-facts.js';

export const registryTypes = [
  'tool',
  'model',
  'db',
  'vector_db',
  'schema',
  'function',
  'agent',
  'team',
  'knowledge',
  'memory_manager',
  'session_summary_manager',
  'hook',
  'guardrail',
  'embedder',
] as const;

export type RegistryType = (typeof registryTypes)[number];

/** Something that configurations may refer to, as `GET /registry` shows it. */
export interface RegistryEntry {
  readonly name: string;
  readonly type: RegistryType;
  readonly id?: string;
  readonly description?: string;
  readonly metadata: JsonObject;
  /** The agent or team that it is, or that it belongs to. Not shown. */
  readonly owner?: Owner;
}

interface Owner {
  readonly kind: RunKind;
  readonly id: string;
}

/** All that configurations may refer to. Neither code nor settings of connections are part of it. */
export function registryEntries(
  registry: RegisteredThings,
  databases: readonly string[] = [],
): readonly RegistryEntry[] {
  const all: readonly RegistryEntry[] = [
    ...Array.from(registry.tools.all(), ({ thing }) => toolEntry(thing)),
    ...Array.from(registry.toolkits.all(), ({ thing }) =>
      entry('tool', thing.name, {
        class_path: thing instanceof Toolkit ? 'runyard.Toolkit' : 'runyard.ToolSource',
        is_toolkit: true,
        functions: toolsOfKit(thing),
      }),
    ),
    ...Array.from(registry.models.all(), ({ thing }) => modelEntry(thing)),
    ...databases.map((id) => entry('db', id, { class_path: databaseClass, db_id: id })),
    ...vectorStores(registry, databases),
    ...Array.from(registry.schemas.all(), ({ name, thing }) => schemaEntry(name, thing)),
    ...Array.from(registry.functions.all(), functionEntry),
    ...Array.from(
      registry.members.all(),
      ({ thing: { kind, id, name, settings } }): RegistryEntry => ({
        ...entry(kind, name, { id, class_path: kind === 'agent' ? 'runyard.Agent' : 'runyard.Team' }),
        id,
        ...(settings.description !== undefined && { description: settings.description }),
        owner: { kind, id },
      }),
    ),
    ...Array.from(registry.knowledge.all(), ({ thing }) => knowledgeEntry(thing, databases)),
    ...managers(registry),
    ...Array.from(registry.hooks.all(), ({ name, thing }) =>
      entry(isNative(thing) ? 'guardrail' : 'hook', name, {
        class_path: typeof thing === 'function' ? 'Function' : 'runyard.NamedHook',
        module: moduleOf(thing),
        required: typeof thing === 'object' && 'required' in thing && thing.required === true,
      }),
    ),
    ...Array.from(registry.embedders.all(), ({ name, thing }) =>
      entry('embedder', name, {
        class_path: 'runyard.Embedder',
        embedder_id: name,
        provider: resolveEmbedder(thing).provider,
      }),
    ),
  ];
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}

function entry(type: RegistryType, name: string, metadata: JsonObject): RegistryEntry {
  return { name, type, metadata };
}

/** For all of them: callers do not learn which database software the service uses. */
const databaseClass = 'runyard.Database';

function toolEntry(tool: Tool): RegistryEntry {
  const metadata = { class_path: 'runyard.Tool', is_toolkit: false, ...toolFacts(tool) };
  return { ...entry('tool', tool.name, metadata), description: tool.description };
}

function modelEntry(model: ModelLike): RegistryEntry {
  const { id, provider, name } = describeModel(model);
  return entry('model', id, { class_path: `runyard.models.${name}`, provider, model_id: id });
}

/** What a function takes is not known at run time: its place among the settings decides it. */
function functionEntry({ name, thing }: Registered<(...args: never[]) => unknown>): RegistryEntry {
  const given = Array.from({ length: thing.length }, (_, index) => `argument${index + 1}: unknown`);
  return entry('function', name, {
    name,
    class_path: 'Function',
    module: moduleOf(thing),
    qualname: thing.name || name,
    has_entrypoint: true,
    parameters: {},
    signature: `(${given.join(', ')})`,
    return_annotation: 'unknown',
  });
}

function schemaEntry(name: string, schema: ValueSchema): RegistryEntry {
  try {
    return entry('schema', name, { class_path: name, schema: jsonSchemaOf(schema) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return entry('schema', name, { class_path: name, schema_error: reason });
  }
}

/** A knowledge base without a vector store of its own has that of its database. */
function storeOf(
  { settings: { vectorStore, database } }: Knowledge,
  databases: readonly string[],
): { readonly id: string; readonly class_path: string; readonly description?: string } | undefined {
  if (vectorStore !== undefined) {
    const { id, name, description } = vectorStore;
    return { id, class_path: name, description };
  }
  const own = database ?? databases[0];
  return own === undefined ? undefined : { id: own, class_path: 'runyard.VectorStore' };
}

function knowledgeEntry(knowledge: Knowledge, databases: readonly string[]): RegistryEntry {
  const { description, maxResults, readers } = knowledge.settings;
  const store = storeOf(knowledge, databases);
  return {
    ...entry('knowledge', knowledge.name, {
      class_path: 'runyard.Knowledge',
      ...(store !== undefined && { vector_db_class: store.class_path }),
      contents_db_class: databaseClass,
      ...(maxResults !== undefined && { max_results: maxResults }),
      ...(readers !== undefined && { num_readers: readers.length }),
    }),
    ...(description !== undefined && { description }),
  };
}

function vectorStores(registry: RegisteredThings, databases: readonly string[]): RegistryEntry[] {
  return Array.from(registry.knowledge.all(), ({ thing }) => storeOf(thing, databases)).flatMap((store) => {
    if (store === undefined) return [];
    const { id, class_path, description } = store;
    const named = entry('vector_db', id, { class_path, vector_db_id: id });
    return [{ ...named, id, ...(description !== undefined && { description }) }];
  });
}

function ownModel({ model }: AgentSettings): ModelLike | undefined {
  return typeof model === 'function' ? undefined : model;
}

/** Agents and teams that remember, and those that keep summaries, with the model that does it. */
function managers(registry: RegisteredThings): RegistryEntry[] {
  return Array.from(registry.members.all(), ({ thing: { id, kind, settings } }) => {
    const owner: Owner = { kind, id };
    const found: RegistryEntry[] = [];
    const factsOf = (model: ModelLike | undefined) => {
      const facts = { owner_id: id, owner_type: kind };
      // that of a member may be known only in its team, and one that a function chooses only in a run
      if (model === undefined) return facts;
      const { name, id: modelId } = describeModel(model);
      return { ...facts, model_class: `runyard.models.${name}`, model_id: modelId };
    };
    if (usesMemories(settings)) {
      const metadata = {
        class_path: 'runyard.Memory',
        ...factsOf(settings.memoryModel ?? ownModel(settings)),
        add_memories: true,
        update_memories: true,
        delete_memories: true,
        clear_memories: settings.allowClearMemories ?? false,
      };
      found.push({ ...entry('memory_manager', id, metadata), owner });
    }
    if (settings.enableSessionSummaries) {
      const facts = factsOf(settings.sessionSummaryModel ?? ownModel(settings));
      const metadata = { class_path: 'runyard.SessionSummary', ...facts };
      found.push({ ...entry('session_summary_manager', id, metadata), owner });
    }
    return found;
  }).flat();
}
