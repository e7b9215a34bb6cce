import type { AgentContinueOptions } from '../agents/continuation/continue-in-code.js';
import type { CompletedAgentRun } from '../agents/model-component.js';
import type { AgentRunOptions } from '../agents/run-options.js';
import type { AgentRunOutput } from '../agents/run-output.js';
import type { JsonObject, JsonSchema } from '../json.js';
import type { ValueSchema } from '../schemas/value-schema.js';
import { Team } from '../teams/team.js';
import { ComponentFactory } from './component-factory.js';
import type { AnyFactorySettings, FactorySettings } from './factory-request.js';

interface TeamTypes<Content> {
  readonly kind: 'team';
  readonly runOptions: AgentRunOptions;
  readonly continueOptions: AgentContinueOptions;
  readonly output: AgentRunOutput<Content | string>;
  readonly completed: CompletedAgentRun<Content>;
}

export type TeamFactorySettings<Schema extends ValueSchema = JsonSchema, Content = unknown> = FactorySettings<
  Team<Content, never>,
  Schema
>;

/** A team that is built for each run. Made with `teamFactory()`. */
export class TeamFactory<Input = JsonObject, Content = unknown> extends ComponentFactory<
  TeamTypes<Content>,
  Team<Content, never>,
  Input
> {
  constructor(settings: AnyFactorySettings<Team<Content, never>>) {
    super('team', settings);
  }

  protected isBuilt(value: unknown): value is Team<Content, never> {
    return value instanceof Team;
  }

  protected onModel(built: Team<Content, never>, model: string): Team<Content, never> {
    return built.with({ model });
  }
}
