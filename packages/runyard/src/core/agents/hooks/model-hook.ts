import type { JsonObject } from '../../json.js';
import type { Message, ToolCall, Usage } from '../../models/message.js';
import type { FinishReason, ToolChoice } from '../../models/model.js';
import { model } from '../../models/model-kind.js';
import type { ModelLike } from '../../models/resolve.js';
import type { Kind } from '../../options/kind.js';
import {
  anyOf,
  callable,
  having,
  json,
  listOf,
  name,
  objectOf,
  required,
  text,
  word,
} from '../../options/kinds.js';
import type { HookContext } from './hook.js';

/** A model call that is about to be made, as the hooks before left it. All of it is a copy. */
export interface ModelCall {
  /** Which call of the conversation it is, from 0. */
  readonly turn: number;
  readonly model: { readonly id: string; readonly provider: string };
  /** What the model is given, oldest first, the system message included. */
  readonly messages: readonly Message[];
  /** The names of the tools that it is offered. */
  readonly tools: readonly string[];
  readonly toolChoice?: ToolChoice;
}

/** What a hook changes about this one call. What it leaves out stays as it is. */
export interface ModelCallChanges {
  /** What the model is given instead. The stored conversation stays as it is. */
  readonly messages?: readonly (Message | Pick<Message, 'role' | 'content'>)[];
  /** Offers only these, by their names. A call of any other tool is refused. */
  readonly tools?: readonly string[];
  readonly toolChoice?: ToolChoice;
  readonly model?: ModelLike;
  /** Settings by the names of the provider, over those of the model: `{ temperature: 0 }`. */
  readonly parameters?: JsonObject;
}

/** The answer to a model call. All of it is a copy. */
export interface ModelAnswer {
  readonly turn: number;
  readonly model: { readonly id: string; readonly provider: string };
  readonly content: string;
  readonly reasoningContent?: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: FinishReason;
  readonly usage: Usage;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a hook that only looks returns nothing.
type Changes = ModelCallChanges | undefined | void;

/** Looks at a model call before it is made, and may change it. */
export type BeforeModel = (call: ModelCall, run: HookContext) => Changes | Promise<Changes>;

/** Looks at the answer to a model call. */
export type AfterModel = (answer: ModelAnswer, run: HookContext) => void | Promise<void>;

/** Code around each model call of the conversation: a function to call before it, or an object with both. */
export type ModelHook =
  | BeforeModel
  | { readonly name: string; readonly before: BeforeModel; readonly after?: AfterModel }
  | { readonly name: string; readonly before?: BeforeModel; readonly after: AfterModel };

const options = objectOf<{ name: string; before?: BeforeModel; after?: AfterModel }>({
  name: required(name),
  before: callable,
  after: callable,
});

const object: Kind = {
  ...options,
  inside: (value: Partial<Record<'before' | 'after', unknown>>, path, faults) => {
    options.inside?.(value, path, faults);
    if (value.before === undefined && value.after === undefined)
      faults.push(`${path} has neither before nor after. Give one of them.`);
  },
};

export const modelHook: Kind = {
  ...anyOf(callable, object),
  allowed: 'a function, or { name, before, after }',
};

export const toolChoice = anyOf(word('auto', 'none', 'required'), objectOf({ name: required(text) }));

/** How many messages a hook may give a model. */
export const mostMessages = 10_000;

const message = having('an object with role and content', {
  role: required(word('system', 'user', 'assistant', 'tool')),
  content: required(text),
});

export const modelCallChanges = objectOf<ModelCallChanges>({
  messages: listOf(message, 1),
  tools: listOf(text),
  toolChoice,
  model,
  parameters: json,
});
