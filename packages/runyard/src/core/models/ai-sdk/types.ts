import { fieldsOf } from '../../objects.js';
import type { ModelCapabilities } from '../model.js';

/**
 * The language models of the AI SDK (`LanguageModelV2`, `V3` and `V4` of `@ai-sdk/provider`), as far as the bridge
 * uses them. Described by shape, so that neither the package nor one version of it is needed.
 */
export interface AiSdkLanguageModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  /** e.g. `mistral.chat` */
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: AiSdkCallOptions): PromiseLike<AiSdkResult>;
  doStream(options: AiSdkCallOptions): PromiseLike<{ readonly stream: AiSdkStream }>;
}

export type AiSdkVersion = AiSdkLanguageModel['specificationVersion'];

/** The members are wider than the real ones: what is handed over is built for the version of the model. */
export interface AiSdkCallOptions {
  // biome-ignore lint/suspicious/noExplicitAny: the prompt's type differs from version to version.
  prompt: any;
  // biome-ignore lint/suspicious/noExplicitAny: so does the tools'.
  tools?: any;
  // biome-ignore lint/suspicious/noExplicitAny: and the format's, which holds a JSON schema.
  responseFormat?: any;
  toolChoice?:
    | { type: 'auto' }
    | { type: 'none' }
    | { type: 'required' }
    | { type: 'tool'; toolName: string };
  abortSignal?: AbortSignal;
  maxOutputTokens?: number;
  temperature?: number;
}

export interface AiSdkStream {
  getReader(): {
    read(): Promise<{ done: boolean; value?: AiSdkPart | undefined }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

/** A part of a stream or of a whole answer; which members it has depends on its type. */
export interface AiSdkPart {
  readonly type: string;
  readonly id?: unknown;
  readonly text?: unknown;
  readonly delta?: unknown;
  readonly toolCallId?: unknown;
  readonly toolName?: unknown;
  readonly input?: unknown;
  readonly result?: unknown;
  readonly isError?: unknown;
  readonly preliminary?: unknown;
  readonly providerExecuted?: unknown;
  readonly approvalId?: unknown;
  readonly url?: unknown;
  readonly title?: unknown;
  readonly filename?: unknown;
  readonly mediaType?: unknown;
  readonly data?: unknown;
  readonly usage?: unknown;
  readonly finishReason?: unknown;
  readonly error?: unknown;
  readonly providerMetadata?: unknown;
}

export interface AiSdkResult {
  readonly content: readonly AiSdkPart[];
  readonly finishReason: unknown;
  readonly usage: unknown;
  readonly response?: { readonly id?: string };
}

export function isAiSdkModel(value: unknown): value is AiSdkLanguageModel {
  const { specificationVersion, doGenerate, doStream } = fieldsOf(value);
  return (
    typeof specificationVersion === 'string' &&
    typeof doGenerate === 'function' &&
    typeof doStream === 'function'
  );
}

/** Only models that have this property can report that they cannot be held to a schema. */
export function aiSdkCapabilities(model: AiSdkLanguageModel): ModelCapabilities {
  const { supportsStructuredOutputs } = fieldsOf(model);
  return { structuredOutput: supportsStructuredOutputs === false ? 'prompted' : 'native', tools: true };
}
