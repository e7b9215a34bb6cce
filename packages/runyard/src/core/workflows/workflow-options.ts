import { Agent, type AnyAgent } from '../agents/agent.js';
import { ofRun } from '../agents/context/of-run-kind.js';
import type { OfRun } from '../agents/context/run-values.js';
import { givenAnswer } from '../agents/run-options.js';
import type { Json, JsonObject } from '../json.js';
import {
  anyOf,
  anything,
  callable,
  count,
  flag,
  instanceOf,
  json,
  listOf,
  name,
  objectOf,
  recordOf,
  required,
  signal,
  text,
  word,
} from '../options/kinds.js';
import { objectSchema } from '../options/schema-kind.js';
import { type Priority, priorities } from '../runs/leases/priority.js';
import { workflowLimits } from '../runs/limits/limit-options.js';
import type { WorkflowLimits } from '../runs/limits/run-limits.js';
import type { FittedTo } from '../schemas/schema-types.js';
import type { ValueSchema } from '../schemas/value-schema.js';
import type { GivenStepAnswer, WorkflowContinueOptions } from './continue-in-code.js';
import type { WorkflowFunction } from './definition/functions.js';
import type { StepEntry } from './definition/node.js';
import { entries } from './definition/node-options.js';

/** How a workflow is defined. */
export interface WorkflowSettings<Input extends ValueSchema = ValueSchema> {
  /** The identifier in URLs; made from the name when left out. */
  readonly id?: string;
  readonly name?: string;
  readonly description?: string;
  /** What is done, in order; or one function that does it all. */
  readonly steps: readonly StepEntry<FittedTo<Input, Json>>[] | WorkflowFunction<FittedTo<Input, Json>>;
  /** What the input has to be: an object that fits a zod or JSON schema. Left out: any text. */
  readonly inputSchema?: Input;
  /** What the state of a new session begins with. */
  readonly sessionState?: JsonObject;
  /** Shows each step the inputs and outputs of earlier runs of the session. */
  readonly addHistoryToSteps?: boolean;
  /** How many of them. Default 3. */
  readonly numHistoryRuns?: number;
  /** An agent in front: it answers itself, or lets the workflow run. */
  readonly agent?: AnyAgent;
  /** The id of the registered database that holds its sessions; the service's own when left out. */
  readonly database?: string;
  readonly metadata?: JsonObject;
  /** How many branches of a parallel group run at once. Default 10. */
  readonly maxParallel?: number;
  /**
   * How much a run may do before it ends with the error `limit_exceeded`: `{ steps: 500, cost: 20 }`. A function
   * chooses it for each run.
   */
  readonly limits?: OfRun<WorkflowLimits>;
  /** How urgent its runs are while they wait for a free slot: `low`, `normal` (the default) or `high`. */
  readonly priority?: Priority;
}

export const workflowOptions = objectOf<WorkflowSettings>({
  id: text,
  name: text,
  description: text,
  steps: required(anyOf(callable, entries)),
  inputSchema: objectSchema,
  sessionState: json,
  addHistoryToSteps: flag,
  numHistoryRuns: count(1),
  agent: instanceOf(Agent, 'an agent, made with agent()'),
  database: text,
  metadata: json,
  maxParallel: count(1),
  limits: ofRun(workflowLimits),
  priority: word(...priorities),
});

const stepAnswer = objectOf<GivenStepAnswer>({
  confirmed: flag,
  feedback: text,
  userInput: json,
  selected: listOf(text),
  editedOutput: anything,
  decision: word('retry', 'skip'),
  calls: recordOf(givenAnswer),
});

export const workflowContinueOptions = objectOf<WorkflowContinueOptions>({
  answers: recordOf(stepAnswer),
  from: name,
  signal,
});
