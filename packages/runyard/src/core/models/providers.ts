/** A provider that models are named after, and where its address and key are looked up. */
export interface KnownProvider {
  readonly provider: string;
  /** Default: OpenAI's chat completions. */
  readonly protocol?: 'responses' | 'anthropic' | 'gemini';
  /** Undefined where there is no public address: the variable must be set. */
  readonly baseUrl?: string;
  readonly baseUrlVariable: string;
  /** The first that is set counts. */
  readonly keyVariables: readonly string[];
  /** Servers on one's own machine ask for no key. */
  readonly keyRequired: boolean;
  readonly structuredOutput: 'native' | 'prompted';
  /** Whether its models want to see their reasoning again while they call tools. */
  readonly sendReasoning?: boolean;
}

function hosted(
  provider: string,
  variables: string,
  baseUrl: string,
  structuredOutput: 'native' | 'prompted' = 'native',
): KnownProvider {
  return {
    provider,
    baseUrl,
    baseUrlVariable: `${variables}_BASE_URL`,
    keyVariables: [`${variables}_API_KEY`],
    keyRequired: true,
    structuredOutput,
  };
}

function local(provider: string, variables: string, baseUrl: string): KnownProvider {
  return { ...hosted(provider, variables, baseUrl), keyRequired: false };
}

export const google: KnownProvider = {
  ...hosted('Google', 'GEMINI', 'https://generativelanguage.googleapis.com/v1beta'),
  protocol: 'gemini',
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
};

export const openAI: KnownProvider = {
  ...hosted('OpenAI', 'OPENAI', 'https://api.openai.com/v1'),
  protocol: 'responses',
};

export const knownProviders: Readonly<Record<string, KnownProvider>> = {
  openai: openAI,
  anthropic: {
    ...hosted('Anthropic', 'ANTHROPIC', 'https://api.anthropic.com/v1'),
    protocol: 'anthropic',
  },
  gemini: google,
  google,
  ollama: local('Ollama', 'OLLAMA', 'http://127.0.0.1:11434/v1'),
  vllm: local('vLLM', 'VLLM', 'http://127.0.0.1:8000/v1'),
  lmstudio: local('LM Studio', 'LMSTUDIO', 'http://127.0.0.1:1234/v1'),
  llamacpp: local('llama.cpp', 'LLAMACPP', 'http://127.0.0.1:8080/v1'),
  groq: hosted('Groq', 'GROQ', 'https://api.groq.com/openai/v1', 'prompted'),
  mistral: hosted('Mistral', 'MISTRAL', 'https://api.mistral.ai/v1'),
  openrouter: hosted('OpenRouter', 'OPENROUTER', 'https://openrouter.ai/api/v1'),
  deepseek: {
    ...hosted('DeepSeek', 'DEEPSEEK', 'https://api.deepseek.com/v1', 'prompted'),
    sendReasoning: true,
  },
  together: hosted('Together', 'TOGETHER', 'https://api.together.xyz/v1'),
  xai: hosted('xAI', 'XAI', 'https://api.x.ai/v1'),
  fireworks: hosted('Fireworks', 'FIREWORKS', 'https://api.fireworks.ai/inference/v1'),
  cerebras: hosted('Cerebras', 'CEREBRAS', 'https://api.cerebras.ai/v1'),
  perplexity: hosted('Perplexity', 'PERPLEXITY', 'https://api.perplexity.ai'),
  nvidia: hosted('NVIDIA', 'NVIDIA', 'https://integrate.api.nvidia.com/v1', 'prompted'),
  azure: {
    provider: 'Azure',
    baseUrlVariable: 'AZURE_OPENAI_BASE_URL',
    keyVariables: ['AZURE_OPENAI_API_KEY'],
    keyRequired: true,
    structuredOutput: 'native',
  },
  'openai-compatible': {
    provider: 'OpenAI-compatible',
    baseUrlVariable: 'RUNYARD_MODEL_BASE_URL',
    keyVariables: ['RUNYARD_MODEL_API_KEY'],
    keyRequired: false,
    structuredOutput: 'native',
  },
};

/** Providers of embeddings and rankings that have no models of the kind above. */
export const retrievalProviders = {
  voyage: hosted('Voyage', 'VOYAGE', 'https://api.voyageai.com/v1'),
  cohere: hosted('Cohere', 'COHERE', 'https://api.cohere.com/v2'),
  jina: hosted('Jina', 'JINA', 'https://api.jina.ai/v1'),
};

/** Whether an address is one of OpenAI itself. */
export function isOpenAIs(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && /(^|\.)openai\.com$/.test(new URL(baseUrl).hostname);
}
