import type { PostHook, PreHook } from '../agents/hooks/hook.js';
import { hook } from '../agents/hooks/hook-options.js';
import { Knowledge } from '../knowledge/knowledge.js';
import { model } from '../models/model-kind.js';
import type { ModelLike } from '../models/resolve.js';
import { fieldsOf } from '../objects.js';
import type { Kind } from '../options/kind.js';
import { callable, instanceOf, listOf, objectOf, recordOf } from '../options/kinds.js';
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
  /** Steps, conditions, selectors, dependencies, instructions, tool hooks and retrievers. */
  readonly functions?: Readonly<Record<string, RegisteredFunction>>;
  readonly knowledge?: readonly Knowledge[];
  /** Hooks and guardrails, by their names. */
  readonly hooks?: readonly (PreHook | PostHook)[];
}

/** A configuration names a hook: one without a name could not be reached. */
const namedHook: Kind = {
  ...hook,
  allowed: 'a function with a name, or { name, run }',
  takes: (value) => hook.takes(value) && fieldsOf(value).name !== '',
};

export const registryOptions = objectOf<RegistrySettings>({
  models: listOf(model),
  tools: listOf(toolEntry),
  schemas: recordOf(schema),
  functions: recordOf(callable),
  knowledge: listOf(instanceOf(Knowledge, 'a knowledge base, made with knowledge()')),
  hooks: listOf(namedHook),
});
