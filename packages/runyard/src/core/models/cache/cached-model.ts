import { native } from '../../native-code.js';
import { isNativeAsMade, responseOf } from '../called-model.js';
import type { Model, ModelCallOptions, ModelChunk, ModelRequest, ModelResponse } from '../model.js';
import { WrappedModel } from '../wrapped-model.js';

/** Where the answers to the calls of a run are kept. None of the functions throws. */
export interface KeptAnswers {
  keyOf(model: Model, request: ModelRequest): string;
  find(key: string): Promise<ModelResponse | undefined>;
  /** Keeps an answer, unless it is one that must not be given again. */
  keep(key: string, response: ModelResponse): Promise<void>;
}

/** A model whose answers are kept. It is called only for what it was not asked before. */
export function cachedModel(model: Model, answers: KeptAnswers): Model {
  const cached = new CachedModel(model, answers);
  return isNativeAsMade(model) ? native(cached) : cached;
}

class CachedModel extends WrappedModel {
  constructor(
    model: Model,
    private readonly answers: KeptAnswers,
  ) {
    super(model);
  }

  async generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse> {
    const { model, answers } = this;
    // taken once: a model that is loaded by its first call knows its settings only then
    const key = answers.keyOf(model, request);
    const found = await answers.find(key);
    if (found !== undefined) return found;
    const response = responseOf(model, await model.generate(request, options));
    await answers.keep(key, response);
    return response;
  }

  async *stream(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<ModelChunk> {
    const { model, answers } = this;
    // taken once: a model that is loaded by its first call knows its settings only then
    const key = answers.keyOf(model, request);
    const found = await answers.find(key);
    if (found !== undefined) {
      yield* chunksOf(found);
      return;
    }
    for await (const chunk of model.stream(request, options)) {
      // the reader leaves with this chunk
      if (chunk.type === 'response') await answers.keep(key, responseOf(model, chunk.response));
      yield chunk;
    }
  }
}

/** Up to a hundred characters, to the end of a word. */
const pieces = /.{1,100}(?:\s|$)|.{1,100}/gsu;

function* chunksOf(response: ModelResponse): Generator<ModelChunk> {
  for (const text of response.reasoningContent?.match(pieces) ?? []) yield { type: 'reasoning', text };
  for (const text of response.content.match(pieces) ?? []) yield { type: 'text', text };
  yield { type: 'response', response };
}
