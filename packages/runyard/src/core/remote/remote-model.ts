import { errors } from '../errors/errors.js';
import type { Model, ModelChunk, ModelResponse } from '../models/model.js';

/**
 * What a remote component has in the place of a model: lists show it, and nothing can call it, because the models that
 * answer are those of the other service.
 */
export class RemoteModel implements Model {
  readonly provider = 'remote';
  readonly name = 'Remote';
  readonly capabilities = { structuredOutput: 'native', tools: true } as const;

  /** `id`: that of the component at the other service. */
  constructor(readonly id: string) {}

  generate(): Promise<ModelResponse> {
    return Promise.reject(this.refusal());
  }

  stream(): AsyncIterable<ModelChunk> {
    throw this.refusal();
  }

  private refusal(): Error {
    return errors.remoteModel(this.id);
  }
}
