import type { Agent, AnyAgent } from '../agents/agent.js';
import { toolRecord } from '../agents/journal-records.js';
import { errors } from '../errors/errors.js';
import type { PieceEvent, RunEvent } from '../events/run-event.js';
import type { JsonObject } from '../json.js';
import { isRemote } from '../remote/remote-component.js';
import type { RunContext } from '../runs/context.js';
import type { Executable, RunEnd } from '../runs/executable.js';
import { read } from '../runs/journal/codec.js';
import type { Run, RunResult } from '../runs/run.js';
import { nativeTool } from '../tools/tool.js';

/** The step that the run of the chat agent is the work of. */
export const chatKey = 'chat';

const toolName = 'run_workflow';

/**
 * An agent in front of a workflow: it answers itself, or lets the workflow run by calling a tool. The call only says
 * so: the steps are done when the agent's own run has ended, as those of any other run.
 */
export class ChatAgent implements Executable {
  readonly kind = 'agent';
  private readonly agent: AnyAgent;

  constructor(given: AnyAgent, workflow: { readonly name: string; readonly description?: string }) {
    // it would need a tool of this workflow
    if (isRemote(given))
      throw errors.invalidConfig(
        `Workflow '${workflow.name}': agent must be a local one. '${given.id}' is executed by another service.`,
      );
    given.assertRuns();
    const about = workflow.description === undefined ? '' : ` ${workflow.description}`;
    const runWorkflow = nativeTool({
      name: toolName,
      description: `Runs the workflow '${workflow.name}'.${about} Call it when the request needs new work; answer yourself when what was said before is enough.`,
      inputSchema: {
        type: 'object',
        properties: { query: { type: 'string', description: 'What the workflow is to work on.' } },
        required: ['query'],
        additionalProperties: false,
      },
      stopAfterCall: true,
      execute: () => 'The workflow runs.',
    });
    const { tools = [] } = given.settings;
    this.agent = given.with({
      tools:
        typeof tools === 'function'
          ? async (run) => [...(await tools(run)), runWorkflow]
          : [...tools, runWorkflow],
    });
  }

  get id(): string {
    return this.agent.id;
  }
  get name(): string {
    return this.agent.name;
  }
  get model(): Agent['model'] {
    return this.agent.model;
  }
  get fingerprint(): string {
    return this.agent.fingerprint;
  }
  get initialState(): JsonObject {
    return {};
  }
  get knowledgeBases(): Agent['knowledgeBases'] {
    return this.agent.knowledgeBases;
  }
  get forgets(): Agent['forgets'] {
    return this.agent.forgets;
  }
  get readsClaims(): boolean {
    return this.agent.readsClaims;
  }
  get priority(): Agent['priority'] {
    return this.agent.priority;
  }
  get limits(): Agent['limits'] {
    return this.agent.limits;
  }
  get eventFields(): JsonObject {
    return this.agent.eventFields;
  }

  /** `metadata.workflow_input`: what the workflow is to work on, when it is to run. */
  async execute(context: RunContext): Promise<RunResult> {
    const result = await this.agent.execute(asWorkflowAgent(context));
    const asked = askedFor(context);
    if (asked === undefined) return result;
    return { ...result, metadata: { ...result.metadata, workflow_input: asked } };
  }

  inside(run: Run, around: RunContext): Executable | undefined {
    return this.agent.inside(run, around);
  }

  metrics(context: RunContext): JsonObject {
    return this.agent.metrics(context);
  }

  endEvents(end: RunEnd, context: RunContext): readonly RunEvent[] {
    return this.agent.endEvents(end, context);
  }
}

/** What the agent passes to the workflow; undefined when it answered itself. */
function askedFor(context: RunContext): string | undefined {
  const call = context
    .steps('tool')
    .filter(({ name, status }) => name === toolName && status === 'completed')
    .map((step) => read(step, toolRecord))
    .find(({ error }) => !error);
  return call && String(call.args?.query ?? '');
}

/** The same context, in which what the agent says is known as that of a workflow's own agent. */
function asWorkflowAgent(context: RunContext): RunContext {
  const marked = new WeakMap<RunEvent, RunEvent>();
  const mark = <Event extends RunEvent>(event: Event): Event => {
    if (event.event !== 'RunContent') return event;
    // it holds a marked copy of this very event
    const known = (marked.get(event) as Event | undefined) ?? { ...event, workflow_agent: true };
    marked.set(event, known);
    return known;
  };
  return Object.create(context, {
    emit: { value: (event: RunEvent, key: string) => context.emit(mark(event), key) },
    emitDelta: { value: (event: PieceEvent, text: string) => context.emitDelta(mark(event), text) },
  });
}
