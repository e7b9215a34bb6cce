import type { z } from 'zod';
import type { JsonObject } from '../json.js';
import { type RunMediaOptions, runMediaOptions } from '../media/given-media.js';
import type { Shape } from '../options/kind.js';
import {
  anyOf,
  anything,
  count,
  flag,
  json,
  listOf,
  none,
  objectOf,
  recordOf,
  signal,
  text,
  word,
} from '../options/kinds.js';
import { schema } from '../options/schema-kind.js';
import type { AgentContinueOptions } from './continuation/continue-in-code.js';
import type { GivenAnswer } from './requirements/read-answer.js';

export interface AgentRunOptions extends RunMediaOptions {
  readonly sessionId?: string;
  readonly userId?: string;
  readonly sessionState?: JsonObject;
  readonly dependencies?: JsonObject;
  readonly metadata?: JsonObject;
  /** A zod or JSON schema that the answer has to fit; `content` is then an object. */
  readonly outputSchema?: z.ZodType | JsonObject;
  readonly addHistoryToContext?: boolean;
  /** Restricts the searches of knowledge: metadata that chunks have to have, or expressions of the filter language. */
  readonly knowledgeFilters?: JsonObject | readonly JsonObject[];
  /** Aborting it cancels the run. */
  readonly signal?: AbortSignal;
}

/** What a run of any kind can be started with. */
export interface RunStartOptions extends AgentRunOptions {
  /** Of a workflow: handed to every step beside the input. */
  readonly additionalData?: JsonObject;
}

/** What a run is given to work on. */
export const runInput = { ...anyOf(text, json), allowed: 'a text or an object' };

type OfAgents = 'outputSchema' | 'addHistoryToContext' | 'knowledgeFilters';

const shared: Shape<Omit<AgentRunOptions, OfAgents>> = {
  sessionId: text,
  userId: text,
  sessionState: json,
  dependencies: json,
  metadata: json,
  signal,
  ...runMediaOptions,
};

export const agentRunOptions = objectOf<AgentRunOptions>({
  ...shared,
  outputSchema: schema,
  addHistoryToContext: flag,
  knowledgeFilters: anyOf(json, listOf(json)),
});

export const workflowRunOptions = objectOf<Omit<RunStartOptions, OfAgents>>({
  ...shared,
  additionalData: json,
});

export const givenAnswer = objectOf<GivenAnswer>({
  confirmed: flag,
  note: text,
  cancelled: flag,
  values: json,
  answered: flag,
  selected: listOf(anyOf(listOf(text), none)),
  result: anything,
});

export const agentContinueOptions = objectOf<AgentContinueOptions>({
  answers: recordOf(givenAnswer),
  input: text,
  from: {
    ...anyOf(word('end', 'last_user'), count(0)),
    allowed: "'end', 'last_user' or a number of messages",
  },
  fork: flag,
  regenerate: flag,
  dependencies: json,
  metadata: json,
  signal,
});
