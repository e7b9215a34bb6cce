import { usesMemories } from '../agents/memory/memories-in-context.js';
import type { JsonObject } from '../json.js';
import type { Knowledge } from '../knowledge/knowledge.js';
import { describeModel } from '../models/resolve.js';
import { withoutUndefined } from '../objects.js';
import { jsonSchemaOf, type ValueSchema } from '../schemas/value-schema.js';
import { collectFixedTools } from '../tools/collect-tools.js';
import type { Tool } from '../tools/tool.js';
import type { ToolSource } from '../tools/tool-source.js';
import { Toolkit } from '../tools/toolkit.js';
import type { RegisteredThings } from './registered-things.js';

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
  'embedder',
] as const;

export type RegistryType = (typeof registryTypes)[number];

/** Something that configurations may refer to, as `GET /registry` shows it. */
export interface RegistryEntry {
  readonly name: string;
  readonly type: RegistryType;
  readonly id?: string;
  readonly description?: string;
  readonly metadata?: JsonObject;
}

/** A database of the service. */
export interface ListedDatabase {
  readonly id: string;
  /** `sqlite`, `postgres` */
  readonly kind: string;
}

/** All that configurations may refer to, by type and in the order of the code. */
export function registryEntries(
  registry: RegisteredThings,
  databases: readonly ListedDatabase[] = [],
): readonly RegistryEntry[] {
  return [
    ...Array.from(registry.tools.all(), ({ thing }) => toolEntry(thing)),
    ...Array.from(registry.toolkits.all(), ({ thing }) => toolkitEntry(thing)),
    ...Array.from(registry.models.all(), ({ thing }) => {
      const { id, provider, name } = describeModel(thing);
      return entry('model', id, { class_path: `runyard.models.${name}`, provider, model_id: id });
    }),
    ...databases.map(({ id, kind }) =>
      entry('db', id, { class_path: `runyard.databases.${kind}`, db_id: id }),
    ),
    ...vectorStores(registry),
    ...Array.from(registry.schemas.all(), ({ name, thing }) => schemaEntry(name, thing)),
    ...Array.from(registry.functions.all(), ({ name, thing }) =>
      entry('function', name, {
        name,
        class_path: 'Function',
        qualname: thing.name || name,
        has_entrypoint: true,
      }),
    ),
    ...Array.from(registry.members.all(), ({ thing: { kind, id, name, settings } }) => ({
      ...entry(kind, name, { id, class_path: kind === 'agent' ? 'runyard.Agent' : 'runyard.Team' }),
      id,
      ...(settings.description !== undefined && { description: settings.description }),
    })),
    ...Array.from(registry.knowledge.all(), ({ thing }) => knowledgeEntry(thing)),
    ...managers(registry),
    ...Array.from(registry.hooks.all(), ({ name, thing }) =>
      entry('hook', name, {
        class_path: typeof thing === 'function' ? 'Function' : (thing.constructor?.name ?? 'Object'),
        required: typeof thing === 'object' && thing.required === true,
      }),
    ),
    ...Array.from(registry.embedders.all(), ({ name }) => entry('embedder', name, { embedder_id: name })),
  ];
}

function entry(type: RegistryType, name: string, metadata: JsonObject): RegistryEntry {
  return { name, type, metadata };
}

function toolEntry(tool: Tool): RegistryEntry {
  const { name, description } = tool;
  const metadata = { class_path: 'runyard.Tool', is_toolkit: false, ...toolFacts(tool) };
  return { name, type: 'tool', description, metadata };
}

/** What a model sees of a tool: arguments that a person fills in are no part of it. */
function toolFacts(tool: Tool): JsonObject {
  const { gate } = tool;
  return withoutUndefined({
    qualname: tool.name,
    has_entrypoint: !gate.externalExecution,
    ...parametersOf(tool),
    ...(gate.requiresConfirmation !== false && { requires_confirmation: true }),
    ...(gate.externalExecution && { external_execution: true }),
    ...(gate.approval !== undefined && { approval_type: gate.approval }),
  });
}

/** Faults of a schema are reported where it is used. */
function parametersOf(tool: Tool): JsonObject {
  try {
    return { parameters: tool.definition.inputSchema };
  } catch {
    return {};
  }
}

/** What a source has is known only when it is asked. */
function toolkitEntry(kit: Toolkit | ToolSource): RegistryEntry {
  const tools =
    kit instanceof Toolkit ? [...collectFixedTools(`Toolkit '${kit.name}'`, [kit]).tools.values()] : [];
  return entry('tool', kit.name, {
    class_path: kit instanceof Toolkit ? 'runyard.Toolkit' : 'runyard.ToolSource',
    is_toolkit: true,
    functions: tools.map((tool) => ({ name: tool.name, description: tool.description, ...toolFacts(tool) })),
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

function knowledgeEntry({ name, settings }: Knowledge): RegistryEntry {
  const { description, vectorStore, maxResults, readers } = settings;
  return {
    name,
    type: 'knowledge',
    ...(description !== undefined && { description }),
    metadata: {
      class_path: 'runyard.Knowledge',
      ...(vectorStore !== undefined && { vector_db_class: vectorStore.name }),
      ...(maxResults !== undefined && { max_results: maxResults }),
      ...(readers !== undefined && { num_readers: readers.length }),
    },
  };
}

function vectorStores(registry: RegisteredThings): RegistryEntry[] {
  const stores = new Set(Array.from(registry.knowledge.all(), ({ thing }) => thing.settings.vectorStore));
  return [...stores]
    .filter((store) => store !== undefined)
    .map((store) => ({
      ...entry('vector_db', store.name, { class_path: store.name, vector_db_id: store.id }),
      id: store.id,
      description: store.description,
    }));
}

/** Agents and teams that remember, and those that keep summaries, with the model that does it. */
function managers(registry: RegisteredThings): RegistryEntry[] {
  return Array.from(registry.members.all(), ({ thing }) => {
    const { id, kind, settings } = thing;
    const owner = { owner_id: id, owner_type: kind };
    const found: RegistryEntry[] = [];
    if (usesMemories(settings)) {
      const model = describeModel(settings.memoryModel ?? settings.model);
      const facts = { ...owner, model_class: model.name, model_id: model.id };
      const rights = {
        add_memories: true,
        update_memories: true,
        delete_memories: true,
        clear_memories: settings.allowClearMemories ?? false,
      };
      found.push(entry('memory_manager', id, { class_path: 'runyard.Memory', ...facts, ...rights }));
    }
    if (settings.enableSessionSummaries) {
      const model = describeModel(settings.sessionSummaryModel ?? settings.model);
      const facts = { ...owner, model_class: model.name, model_id: model.id };
      found.push(entry('session_summary_manager', id, { class_path: 'runyard.SessionSummary', ...facts }));
    }
    return found;
  }).flat();
}
