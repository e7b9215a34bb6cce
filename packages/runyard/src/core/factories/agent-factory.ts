import { Agent } from '../agents/agent.js';
import type { AgentContinueOptions } from '../agents/continuation/continue-in-code.js';
import type { CompletedAgentRun } from '../agents/model-component.js';
import type { AgentRunOptions } from '../agents/run-options.js';
import type { AgentRunOutput } from '../agents/run-output.js';
import type { JsonObject, JsonSchema } from '../json.js';
import type { ValueSchema } from '../schemas/value-schema.js';
import { ComponentFactory } from './component-factory.js';
import type { AnyFactorySettings, FactoryCall, FactorySettings } from './factory-request.js';

interface AgentTypes<Content> {
  readonly kind: 'agent';
  readonly runOptions: AgentRunOptions;
  readonly continueOptions: AgentContinueOptions;
  readonly output: AgentRunOutput<Content | string>;
  readonly completed: CompletedAgentRun<Content>;
}

export type AgentFactorySettings<
  Schema extends ValueSchema = JsonSchema,
  Content = unknown,
> = FactorySettings<Agent<Content, never>, Schema>;

/** How code runs what a factory of agents or teams builds. */
export type FactoryRunOptions<Input = JsonObject> = AgentRunOptions & FactoryCall<Input>;

/** An agent that is built for each run. Made with `agentFactory()`. */
export class AgentFactory<Input = JsonObject, Content = unknown> extends ComponentFactory<
  AgentTypes<Content>,
  Agent<Content, never>,
  Input
> {
  constructor(settings: AnyFactorySettings<Agent<Content, never>>) {
    super('agent', settings);
  }

  protected isBuilt(value: unknown): value is Agent<Content, never> {
    return value instanceof Agent;
  }

  protected onModel(built: Agent<Content, never>, model: string): Agent<Content, never> {
    return built.with({ model });
  }
}
