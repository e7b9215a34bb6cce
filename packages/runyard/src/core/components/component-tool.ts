import { textOf } from '../agents/answer/answer-record.js';
import { delegatingTools } from '../agents/delegating-tools.js';
import type { AgentExecution } from '../agents/execution.js';
import { questionsAtRest } from '../agents/requirements/questions-at-rest.js';
import { memberKeyOf } from '../agents/tool-executions.js';
import { executionOf, stepKeyOf } from '../agents/turns/built-in/execution-of-call.js';
import { RunyardError } from '../errors/errors.js';
import type { JsonObject, JsonSchema } from '../json.js';
import { checkOptions } from '../options/check-options.js';
import { flag, objectOf, text, word } from '../options/kinds.js';
import { type RunContext, RunPaused } from '../runs/context.js';
import { type Executable, RunCancelled } from '../runs/executable.js';
import { deepestRun, runChild, wasGivenUp } from '../runs/execution/child-run.js';
import { type ChildOutcome, thrownBy } from '../runs/journal/records.js';
import type { RunInput } from '../runs/run.js';
import { jsonSchemaOf, type ValueSchema } from '../schemas/value-schema.js';
import type { ApprovalType } from '../tools/call/gate.js';
import { ToolRefused } from '../tools/call/tool-hooks.js';
import { nativeTool, type Tool } from '../tools/tool.js';
import type { ToolContext } from '../tools/tool-context.js';
import { type ToolResult, toolResult } from '../tools/tool-result.js';

/** How a model sees an agent, a team or a workflow that it can call. */
export interface AsToolOptions {
  /** Default: the id of the component. */
  readonly name?: string;
  /** Default: the description of the component. */
  readonly description?: string;
  /** Added to the system message: when and how to use this tool. */
  readonly instructions?: string;
  /** A person has to agree to each call. */
  readonly requiresConfirmation?: boolean;
  readonly approval?: ApprovalType;
  /** The run ends after this call; its result is the last word. */
  readonly stopAfterCall?: boolean;
  /** The result is also shown as a part of the answer. */
  readonly showResult?: boolean;
}

const asToolOptions = objectOf<AsToolOptions>({
  name: text,
  description: text,
  instructions: text,
  requiresConfirmation: flag,
  approval: word('required', 'audit'),
  stopAfterCall: flag,
  showResult: flag,
});

type ClosableComponent = Executable & { close(): Promise<void> };

/** A component that a model can call. */
interface CallableComponent extends ClosableComponent {
  readonly name: string;
  readonly settings: {
    readonly description?: string;
    readonly role?: string;
    readonly inputSchema?: ValueSchema;
  };
}

const plainInput: JsonSchema = {
  type: 'object',
  properties: {
    input: {
      type: 'string',
      minLength: 1,
      description: 'What is to be done, with everything that has to be known for it: nothing else is seen.',
    },
  },
  required: ['input'],
  additionalProperties: false,
};

/** What each such tool runs, by its code: the same under another name. */
const components = new WeakMap<object, CallableComponent>();

/** A tool that runs a component within the run of the agent that calls it. */
export function componentTool(component: CallableComponent, options: AsToolOptions = {}): Tool {
  const { kind, id, name, settings } = component;
  checkOptions(`${kind}.asTool()`, options, asToolOptions);
  const { description = settings.description ?? settings.role } = options;
  const made = nativeTool({
    ...options,
    name: options.name ?? id.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 64),
    description: description || `Runs the ${kind} '${name}'.`,
    // the component itself makes its input of this: defaults and transforms of its schema apply once
    inputSchema: settings.inputSchema === undefined ? plainInput : jsonSchemaOf(settings.inputSchema),
    // what it did is in the journal, step by step: an interrupted call continues
    onUnknownOutcome: 'retry',
    execute: (args, site) => callComponent(component, args, site),
  });
  delegatingTools(made);
  components.set(made.code, component);
  return made;
}

/** The components among tools, each once. */
export function componentsOfTools(tools: Iterable<Tool>): ClosableComponent[] {
  const found = Array.from(tools, (one) => components.get(one.code));
  return [...new Set(found.filter((component) => component !== undefined))];
}

async function callComponent(
  component: CallableComponent,
  args: JsonObject,
  site: ToolContext,
): Promise<string | ToolResult> {
  const execution = executionOf(site);
  const { context } = execution;
  const stepKey = stepKeyOf(site);
  const key = memberKeyOf(stepKey);
  const resting = questionsAtRest(context, key);
  if (resting !== undefined) throw new RunPaused(resting);
  const earlier = context.recorded(key);
  if (earlier !== undefined && wasGivenUp(earlier))
    throw new ToolRefused(thrownBy(earlier)?.message ?? 'It was cancelled.');
  if (earlier === undefined) {
    context.replay?.stop();
    if (context.origin.depth >= deepestRun)
      throw new ToolRefused(
        `Not done: components call each other ${deepestRun} levels deep. Answer yourself.`,
      );
  }
  try {
    const outcome = await runChild(context, {
      key,
      kind: 'member',
      parentKey: stepKey,
      executable: component,
      // what it was given is in the journal once it has begun
      input: earlier === undefined ? await inputFor(component, args, execution) : context.run.input,
      fields: fieldsOf(context, component),
      depth: context.origin.depth + 1,
    });
    return resultOf(component, outcome);
  } catch (error) {
    context.signal.throwIfAborted();
    // a person has ended the work of the component, and not that of the agent
    if (error instanceof RunCancelled) throw new ToolRefused(error.message);
    throw error;
  }
}

function resultOf({ kind, name }: CallableComponent, { status, result }: ChildOutcome): string | ToolResult {
  const said = textOf(result.content);
  if (status === 'error') throw new ToolRefused(`The ${kind} '${name}' failed: ${said}`);
  const media = result.media ?? [];
  return media.length === 0 ? said : toolResult(said, { media });
}

async function inputFor(
  component: CallableComponent,
  args: JsonObject,
  { context, dependencies, metadata }: AgentExecution,
): Promise<RunInput> {
  const { knowledgeFilters, extra, stream, remembersOutside } = context.options;
  return {
    content: await accepted(component, args, context),
    media: context.run.input.media,
    options: {
      stream,
      ...(Object.keys(dependencies).length > 0 && { dependencies }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
      ...(knowledgeFilters !== undefined && { knowledgeFilters }),
      ...(extra !== undefined && { extra }),
      ...(remembersOutside && { remembersOutside }),
    },
  };
}

/** Checks of the component's own that a JSON schema cannot express are made here. */
async function accepted(
  component: CallableComponent,
  args: JsonObject,
  context: RunContext,
): Promise<string> {
  if (component.settings.inputSchema === undefined) return String(args.input);
  const given = JSON.stringify(args, null, 2);
  try {
    return (await component.acceptInput?.(given, context.callApplication)) ?? given;
  } catch (error) {
    if (!(error instanceof RunyardError)) throw error;
    throw new ToolRefused(`${error.message}\nCall it again with arguments that fit.`);
  }
}

/** What the run is a part of, the runs within it are too; the events of a workflow name that workflow alone. */
function fieldsOf({ origin, run }: RunContext, { kind }: CallableComponent): JsonObject {
  const parent = { parent_run_id: run.runId };
  if (kind === 'workflow') return parent;
  const { team_id: _id, team_name: _name, agent_id: _agent, agent_name: _called, ...around } = origin.fields;
  return { ...around, ...parent };
}
