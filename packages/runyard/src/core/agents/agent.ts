import type { Receiver } from '../async/receiver.js';
import type { RunEvent } from '../events/run-event.js';
import type { Json, JsonObject } from '../json.js';
import type { RunContext } from '../runs/context.js';
import type { RunEnd } from '../runs/executable.js';
import type { RunResult } from '../runs/run.js';
import { collectFixedTools, namedTools } from '../tools/collect-tools.js';
import { endEvents, runPaused } from './agent-events.js';
import { agentOptions } from './agent-options.js';
import { agentStructure } from './agent-structure.js';
import { openRequirements } from './continuation/continue-in-code.js';
import type { AgentSettings } from './definition.js';
import { executeAgent } from './execute-agent.js';
import { ModelComponent } from './model-component.js';
import { builtInTools } from './turns/built-in/built-in-tools.js';

/** An agent: a model with instructions and tools. Made with `agent()`, registered with `Runyard`, or run as it is. */
export class Agent<Content = unknown, Input = string | JsonObject> extends ModelComponent<
  'agent',
  AgentSettings,
  Content,
  Input
> {
  readonly kind = 'agent';
  readonly toolEntries = [...namedTools(this.settings.tools), ...builtInTools(this.settings)];
  protected readonly fixedTools = collectFixedTools(this.owner, this.toolEntries);

  constructor(settings: AgentSettings) {
    super('agent', settings, agentOptions);
  }

  with(settings: Partial<AgentSettings>): Agent<Content, Input> {
    const copy = new Agent<Content, Input>({ ...this.settings, ...settings });
    // a run of a copy continues with the same configurations, too
    copy.origin = this.origin;
    return copy;
  }

  lead(context: RunContext, receiver: Receiver<RunResult>): void {
    executeAgent(this.definition, context, receiver);
  }

  endEvents(end: RunEnd, context: RunContext): readonly RunEvent[] {
    if (end.status !== 'paused') return endEvents(end, context.steps());
    // what a component waits for that is a tool of it, too
    const open = openRequirements({ ...context.run, status: end.status }, context.allSteps());
    return [{ event: 'RunContentCompleted' }, runPaused(open)];
  }

  protected structure(): Json {
    return agentStructure(this);
  }
}

/** An agent with whatever content and input. */
export type AnyAgent = Agent<unknown, never>;
