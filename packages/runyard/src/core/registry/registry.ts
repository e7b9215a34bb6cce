import type { PostHook, PreHook } from '../agents/hooks/hook.js';
import type { Knowledge } from '../knowledge/knowledge.js';
import type { ModelLike } from '../models/resolve.js';
import type { ValueSchema } from '../schemas/value-schema.js';
import type { ToolEntry } from '../tools/toolkit.js';

/** A function of the application that configurations call by its name. */
export type RegisteredFunction = (...args: never[]) => unknown;

/** What an application registers for stored configurations. What its components use need not be repeated here. */
export interface RegistrySettings {
  readonly models?: readonly ModelLike[];
  readonly tools?: readonly ToolEntry[];
  readonly schemas?: Readonly<Record<string, ValueSchema>>;
  /** Steps, conditions, selectors, dependencies and instructions. */
  readonly functions?: Readonly<Record<string, RegisteredFunction>>;
  readonly knowledge?: readonly Knowledge[];
  /** Hooks and guardrails, by their names. */
  readonly hooks?: readonly (PreHook | PostHook)[];
}

/** What stored configurations may refer to: what is registered, and what the components of the code use. */
export interface Registry {
  readonly settings: RegistrySettings;
}
