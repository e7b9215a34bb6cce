import type { PostHook, PreHook } from '../agents/hooks/hook.js';
import { hook } from '../agents/hooks/hook-options.js';
import { type ModelHook, modelHook } from '../agents/hooks/model-hook.js';
import { Knowledge } from '../knowledge/knowledge.js';
import { model } from '../models/model-kind.js';
import type { ModelLike } from '../models/resolve.js';
import { fieldsOf } from '../objects.js';
import type { Kind } from '../options/kind.js';
import { anyOf, callable, instanceOf, kind, listOf, objectOf, recordOf } from '../options/kinds.js';
import { schema } from '../options/schema-kind.js';
import type { ValueSchema } from '../schemas/value-schema.js';
import { type ToolEntry, toolEntry } from '../tools/toolkit.js';

/** A function of the application that configurations call by its name. */
export type RegisteredFunction = (...args: never[]) => unknown;

/** What an application registers for stored configurations. What its components use need not be repeated here. */
export interface RegistrySettings {
  /** Model objects. Models that a text names, such as `openai:gpt-5-mini`, need no registration. */
  readonly models?: readonly ModelLike[];
  /** Tools, toolkits and tool sources, by their names. */
  readonly tools?: readonly ToolEntry[];
  readonly schemas?: Readonly<Record<string, ValueSchema>>;
  /** Steps, conditions, selectors, dependencies, instructions, tool hooks, text transforms and retrievers. */
  readonly functions?: Readonly<Record<string, RegisteredFunction>>;
  readonly knowledge?: readonly Knowledge[];
  /** Hooks, those around model calls included, and guardrails, by their names. */
  readonly hooks?: readonly (PreHook | PostHook | ModelHook)[];
}

const isAround = kind('a model hook', (value) => {
  const { before, after } = fieldsOf(value);
  return modelHook.takes(value) && (before !== undefined || after !== undefined);
});

const anyHook = anyOf({ ...modelHook, takes: isAround.takes }, hook);

/** A configuration names a hook: one without a name could not be reached. */
const namedHook: Kind = {
  ...anyHook,
  allowed: 'a function with a name, { name, run } or { name, before, after }',
  takes: (value) => anyHook.takes(value) && fieldsOf(value).name !== '',
};

export const registryOptions = objectOf<RegistrySettings>({
  models: listOf(model),
  tools: listOf(toolEntry),
  schemas: recordOf(schema),
  functions: recordOf(callable),
  knowledge: listOf(instanceOf(Knowledge, 'a knowledge base, made with knowledge()')),
  hooks: listOf(namedHook),
});
