import type { AnyAgent } from '../agents/agent.js';
import type { PostHook, PreHook } from '../agents/hooks/hook.js';
import type { ModelHook } from '../agents/hooks/model-hook.js';
import type { EmbedderLike } from '../embedders/resolve.js';
import type { Knowledge } from '../knowledge/knowledge.js';
import type { ModelLike } from '../models/resolve.js';
import type { ValueSchema } from '../schemas/value-schema.js';
import type { AnyTeam } from '../teams/team.js';
import type { Tool } from '../tools/tool.js';
import type { ToolSource } from '../tools/tool-source.js';
import type { Toolkit } from '../tools/toolkit.js';
import { NamedThings } from './named-things.js';
import type { RegisteredFunction } from './registry-options.js';

/** The things of a registry, by kind and name. */
export class RegisteredThings {
  /** By their ids; `findModels` also compares the rest of a reference. */
  readonly models = new NamedThings<ModelLike>('model');
  readonly tools = new NamedThings<Tool>('tool');
  /** The tools of toolkits, by the names that they have outside of the kit. */
  readonly toolsInKits = new NamedThings<Tool>('tool');
  readonly toolkits = new NamedThings<Toolkit | ToolSource>('toolkit');
  readonly schemas = new NamedThings<ValueSchema>('schema');
  readonly functions = new NamedThings<RegisteredFunction>('function');
  readonly knowledge = new NamedThings<Knowledge>('knowledge base');
  readonly hooks = new NamedThings<PreHook | PostHook | ModelHook>('hook');
  readonly embedders = new NamedThings<EmbedderLike>('embedder');
  /** The agents and teams that were looked at, also those that others contain. */
  readonly members = new NamedThings<AnyAgent | AnyTeam>('component');
}
