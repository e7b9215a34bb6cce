/** How the calls of a model are named, by who serves it; those of OpenAI depend on the adapter. */
const classes: Readonly<Record<string, string>> = {
  Anthropic: 'Claude',
  Azure: 'AzureOpenAI',
  Cerebras: 'Cerebras',
  DeepSeek: 'DeepSeek',
  Fireworks: 'Fireworks',
  Google: 'Gemini',
  Groq: 'Groq',
  'LM Studio': 'LMStudio',
  'llama.cpp': 'LlamaCpp',
  Mistral: 'MistralChat',
  NVIDIA: 'Nvidia',
  Ollama: 'Ollama',
  OpenRouter: 'OpenRouter',
  Perplexity: 'Perplexity',
  Together: 'Together',
  vLLM: 'VLLM',
  xAI: 'xAI',
};

const adapterClasses: Readonly<Record<string, string>> = { OpenAICompatible: 'OpenAILike' };

/** The name of the class that a model's spans are named after, e.g. `OpenAIChat`. */
export function modelClassOf(provider: string, adapter: string | undefined): string {
  if (provider === 'OpenAI') return adapter === 'OpenAICompatible' ? 'OpenAIChat' : 'OpenAIResponses';
  const known =
    classes[provider] ?? (adapter === undefined ? undefined : (adapterClasses[adapter] ?? adapter));
  return known ?? (provider.replace(/\W/g, '') || 'Model');
}

/** Providers whose names in OpenTelemetry's conventions are not simply their own in lower case. */
const conventionalNames: Readonly<Record<string, string>> = {
  Azure: 'azure.ai.openai',
  Google: 'gcp.gemini',
  Mistral: 'mistral_ai',
  xAI: 'x_ai',
};

/** A provider as OpenTelemetry's conventions for generative AI name it. */
export function conventionalProvider(provider: string): string {
  return conventionalNames[provider] ?? provider.toLowerCase().replace(/[^a-z0-9.]+/g, '_');
}
