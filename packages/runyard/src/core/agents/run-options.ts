import type { z } from 'zod';
import { givenMessages } from '../components/given-messages.js';
import type { JsonObject } from '../json.js';
import { type RunMediaOptions, runMediaOptions } from '../media/given-media.js';
import type { Shape } from '../options/kind.js';
import {
  anyOf,
  anything,
  count,
  flag,
  json,
  kind,
  listOf,
  none,
  objectOf,
  recordOf,
  signal,
  text,
  word,
} from '../options/kinds.js';
import { schema } from '../options/schema-kind.js';
import type { CallerMessage } from '../runs/caller-input.js';
import { type Priority, priorities } from '../runs/leases/priority.js';
import type { AgentContinueOptions } from './continuation/continue-in-code.js';
import type { GivenAnswer } from './requirements/read-answer.js';

export interface AgentRunOptions extends RunMediaOptions {
  /** The id of the new run. Refused when a run has it. Left out: a new id. */
  readonly runId?: string;
  readonly sessionId?: string;
  readonly userId?: string;
  readonly sessionState?: JsonObject;
  readonly dependencies?: JsonObject;
  readonly metadata?: JsonObject;
  /** A zod or JSON schema that the answer has to fit; `content` is then an object. */
  readonly outputSchema?: z.ZodType | JsonObject;
  /** For `start()` and `stream()` with an output schema: `run.partialObjects()` shows the answer as it grows. */
  readonly partialObjects?: boolean;
  readonly addHistoryToContext?: boolean;
  /** Restricts the searches of knowledge: metadata that chunks have to have, or expressions of the filter language. */
  readonly knowledgeFilters?: JsonObject | readonly JsonObject[];
  /** What was said before, by the user and the agent: in the place of the session's history. */
  readonly messages?: readonly CallerMessage[];
  /** How urgent the run is while it waits for a free slot. Left out: as its component says. */
  readonly priority?: Priority;
  /** Aborting it cancels the run. */
  readonly signal?: AbortSignal;
}

/** What a run of any kind can be started with. */
export interface RunStartOptions extends AgentRunOptions {
  /** Of a workflow: handed to every step beside the input. */
  readonly additionalData?: JsonObject;
}

/** What `start()` takes beside the options of `run()`. */
export interface StartOptions {
  /** Stores the run before it begins: a service completes it also when this process ends. */
  readonly background?: boolean;
}

/** What a run is given to work on. */
export const runInput = { ...anyOf(text, json), allowed: 'a text or an object' };

type OfAgents = 'outputSchema' | 'partialObjects' | 'addHistoryToContext' | 'knowledgeFilters' | 'messages';

/** As long as an id of a client may be, and nothing that a database cannot store. */
const runId = kind(
  'an id of 1 to 255 characters without U+0000',
  (value) => typeof value === 'string' && /^[^\0\p{Surrogate}]{1,255}$/u.test(value),
);

const shared: Shape<Omit<AgentRunOptions, OfAgents>> = {
  runId,
  sessionId: text,
  userId: text,
  sessionState: json,
  dependencies: json,
  metadata: json,
  priority: word(...priorities),
  signal,
  ...runMediaOptions,
};

const ofAgents: Shape<AgentRunOptions> = {
  ...shared,
  outputSchema: schema,
  partialObjects: flag,
  addHistoryToContext: flag,
  knowledgeFilters: anyOf(json, listOf(json)),
  messages: givenMessages,
};

export const agentRunOptions = objectOf<AgentRunOptions>(ofAgents);

export const agentStartOptions = objectOf<AgentRunOptions & StartOptions>({ ...ofAgents, background: flag });

const ofWorkflows: Shape<Omit<RunStartOptions, OfAgents>> = { ...shared, additionalData: json };

export const workflowRunOptions = objectOf<Omit<RunStartOptions, OfAgents>>(ofWorkflows);

export const workflowStartOptions = objectOf<Omit<RunStartOptions, OfAgents> & StartOptions>({
  ...ofWorkflows,
  background: flag,
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
