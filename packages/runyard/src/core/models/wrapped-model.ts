import type { Model, ModelCallOptions, ModelChunk, ModelRequest, ModelResponse } from './model.js';

/** A model in front of another one: it has the same name and settings, and decides how the other one is called. */
export abstract class WrappedModel implements Model {
  readonly id: string;
  readonly provider: string;
  readonly name: string;
  readonly capabilities: Model['capabilities'];

  constructor(protected readonly model: Model) {
    this.id = model.id;
    this.provider = model.provider;
    this.name = model.name;
    this.capabilities = model.capabilities;
  }

  // taken when it is asked for: a model that is loaded by its first call knows its settings only then
  get parameters(): Model['parameters'] {
    return this.model.parameters;
  }

  abstract generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse>;
  abstract stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelChunk>;
}
