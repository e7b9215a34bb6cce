import { checkOptions, checkValue } from '../../options/check-options.js';
import { callable, count, kind, objectOf, word } from '../../options/kinds.js';
import type {
  Model,
  ModelCallOptions,
  ModelCapabilities,
  ModelChunk,
  ModelRequest,
  ModelResponse,
} from '../model.js';
import { ModelError } from '../model-error.js';
import { pauseBeforeRetry } from '../provider/call/provider-call.js';
import { AiSdkAnswer } from './answer.js';
import { modelErrorOf } from './failure.js';
import { callOptions, type PromptOptions } from './prompt.js';
import {
  type AiSdkLanguageModel,
  type AiSdkPart,
  type AiSdkStream,
  aiSdkCapabilities,
  isAiSdkModel,
} from './types.js';

export interface AiSdkModelOptions {
  /** `prompted` for models that cannot be held to a JSON schema. Default: what the model reports. */
  readonly structuredOutput?: 'native' | 'prompted';
  /** How often a call is tried again that failed before any of its answer was used. Default 2. */
  readonly retries?: number;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const languageModel = kind("a language model of the AI SDK, such as mistral('…')", isAiSdkModel);

const aiSdkModelOptions = objectOf<AiSdkModelOptions>({
  structuredOutput: word('native', 'prompted'),
  retries: count(0),
  wait: callable,
});

/** A model of the AI SDK, such as `mistral('mistral-large-latest')` of `@ai-sdk/mistral`, as a model of ours. */
export function aiSdkModel(model: AiSdkLanguageModel, options: AiSdkModelOptions = {}): Model {
  checkValue('aiSdkModel()', 'the model', model, languageModel);
  checkOptions('aiSdkModel()', options, aiSdkModelOptions);
  return new AiSdkBridge(model, options);
}

class AiSdkBridge implements Model {
  readonly id: string;
  readonly provider: string;
  readonly name = 'AiSdk';
  readonly capabilities: ModelCapabilities;
  readonly #model: AiSdkLanguageModel;
  readonly #options: AiSdkModelOptions;
  readonly #prompt: PromptOptions;

  constructor(model: AiSdkLanguageModel, options: AiSdkModelOptions) {
    this.id = model.modelId;
    this.provider = model.provider;
    const known = aiSdkCapabilities(model);
    this.capabilities = { ...known, structuredOutput: options.structuredOutput ?? known.structuredOutput };
    this.#model = model;
    this.#options = options;
    this.#prompt = {
      version: model.specificationVersion,
      provider: model.provider,
      owner: { protocol: `ai-sdk:${model.provider}`, model: model.modelId },
    };
  }

  async generate(request: ModelRequest, { signal, failedTry }: ModelCallOptions): Promise<ModelResponse> {
    const options = await callOptions(request, this.#prompt, signal);
    for (let attempt = 0; ; attempt += 1) {
      signal.throwIfAborted();
      try {
        const result = await this.#model.doGenerate(options);
        const answer = new AiSdkAnswer(this.#prompt.owner);
        answer.id = result.response?.id;
        for (const [index, part] of result.content.entries()) answer.accept({ ...part, id: index });
        answer.finish(result.usage, result.finishReason);
        return await answer.response(request.media);
      } catch (error) {
        await this.#pause(error, attempt, signal, failedTry);
      }
    }
  }

  async *stream(request: ModelRequest, { signal, failedTry }: ModelCallOptions): AsyncGenerator<ModelChunk> {
    const options = await callOptions(request, this.#prompt, signal);
    for (let attempt = 0; ; attempt += 1) {
      signal.throwIfAborted();
      let reader: ReturnType<AiSdkStream['getReader']> | undefined;
      let delivered = false;
      try {
        reader = (await this.#model.doStream(options)).stream.getReader();
        const answer = new AiSdkAnswer(this.#prompt.owner);
        for (let part = await next(reader); part !== undefined; part = await next(reader)) {
          signal.throwIfAborted();
          if (part.type === 'error') throw modelErrorOf(this.provider, part.error);
          const chunk = answer.accept(part);
          if (chunk === undefined) continue;
          delivered = true;
          yield chunk;
        }
        reader = undefined;
        if (!answer.finished) throw this.#unfinished();
        const response = await answer.response(request.media);
        delivered = true;
        yield { type: 'response', response };
        return;
      } catch (error) {
        if (delivered) throw signal.aborted ? signal.reason : modelErrorOf(this.provider, error);
        await this.#pause(error, attempt, signal, failedTry);
      } finally {
        // A reader that leaves early must not leave the provider talking.
        reader?.cancel().catch(() => {});
      }
    }
  }

  /** Waits until it is time for another try; throws the error if another makes no sense. */
  async #pause(
    error: unknown,
    attempt: number,
    signal: AbortSignal,
    failedTry: ModelCallOptions['failedTry'],
  ): Promise<void> {
    signal.throwIfAborted();
    const failure = modelErrorOf(this.provider, error);
    failedTry?.(failure);
    await pauseBeforeRetry(failure, attempt, this.#options, signal);
  }

  #unfinished(): ModelError {
    return new ModelError(`${this.provider} ended the stream before the answer was complete.`, {
      provider: this.provider,
      kind: 'connection',
      retryable: true,
    });
  }
}

async function next(reader: ReturnType<AiSdkStream['getReader']>): Promise<AiSdkPart | undefined> {
  const { done, value } = await reader.read();
  return done ? undefined : value;
}
