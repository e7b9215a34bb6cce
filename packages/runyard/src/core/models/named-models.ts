import type { Model } from './model.js';
import { type Environment, type ModelName, protocolOf } from './model-name.js';
import { connectionOf, nameForms } from './named-connection.js';
import { knownProviders } from './providers.js';

const supported = ['offline', ...nameForms(knownProviders), 'ai-sdk:<provider>:<model>'];

/** Makes the model of a name, or says what is missing. */
export async function loadNamedModel(name: ModelName, environment: Environment): Promise<Model> {
  const protocol = protocolOf(name, environment);
  if (protocol === 'offline') return (await import('./offline/offline.js')).offlineModel();
  if (protocol === 'ai-sdk') return loadPackagedModel(name);
  const options = connectionOf('Model', name, environment, supported);
  switch (protocol) {
    case 'responses':
      return (await import('./openai-responses/openai-responses.js')).openAIResponses(options);
    case 'anthropic':
      return (await import('./anthropic/anthropic.js')).anthropic(options);
    case 'gemini':
      return (await import('./gemini/gemini.js')).gemini(options);
    default: {
      const { openAICompatible } = await import('./openai-compatible/openai-compatible.js');
      const { structuredOutput, sendReasoning } = name.known ?? {};
      return openAICompatible({
        ...options,
        ...(structuredOutput && { structuredOutput }),
        ...(sendReasoning && { sendReasoning }),
      });
    }
  }
}

async function loadPackagedModel(name: ModelName): Promise<Model> {
  const [{ aiSdkModel }, { isAiSdkModel }, { packaged }] = await Promise.all([
    import('./ai-sdk/ai-sdk.js'),
    import('./ai-sdk/types.js'),
    import('./ai-sdk/packages.js'),
  ]);
  return aiSdkModel(await packaged('Model', name, ['languageModel'], isAiSdkModel));
}
