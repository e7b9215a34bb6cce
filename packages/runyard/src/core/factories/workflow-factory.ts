import type { Json, JsonObject, JsonSchema } from '../json.js';
import type { ValueSchema } from '../schemas/value-schema.js';
import type { WorkflowContinueOptions } from '../workflows/continue-in-code.js';
import type { WorkflowRunOptions, WorkflowRunOutput } from '../workflows/run-in-code.js';
import { type EventReceipt, type SendEventOptions, sendEventTo } from '../workflows/send-event.js';
import { Workflow } from '../workflows/workflow.js';
import { ComponentFactory } from './component-factory.js';
import type { AnyFactorySettings, FactorySettings } from './factory-request.js';

interface WorkflowTypes<Content> {
  readonly kind: 'workflow';
  readonly runOptions: WorkflowRunOptions;
  readonly continueOptions: WorkflowContinueOptions;
  readonly output: WorkflowRunOutput<Content>;
  readonly completed: Extract<WorkflowRunOutput<Content>, { readonly status: 'completed' }>;
}

export type WorkflowFactorySettings<
  Schema extends ValueSchema = JsonSchema,
  Content = unknown,
> = FactorySettings<Workflow<Content, never>, Schema>;

/** A workflow that is built for each run. Made with `workflowFactory()`. */
export class WorkflowFactory<Input = JsonObject, Content = unknown> extends ComponentFactory<
  WorkflowTypes<Content>,
  Workflow<Content, never>,
  Input
> {
  constructor(settings: AnyFactorySettings<Workflow<Content, never>>) {
    super('workflow', settings);
  }

  /** Sends an event to a run that has not ended, as `workflow.sendEvent()` does. */
  async sendEvent(
    runId: string,
    name: string,
    data: Json = null,
    options: SendEventOptions = {},
  ): Promise<EventReceipt> {
    return sendEventTo(await this.open(), this.id, runId, { name, data, options });
  }

  protected isBuilt(value: unknown): value is Workflow<Content, never> {
    return value instanceof Workflow;
  }

  /** A workflow has no model. */
  protected onModel(built: Workflow<Content, never>): Workflow<Content, never> {
    return built;
  }
}
