import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ModelError } from '../model-error.js';
import { type AiSdkLanguageModel, isAiSdkModel } from './types.js';

/**
 * The provider that a package of the AI SDK exports ready for use: it takes its key from the environment by
 * itself, under the name that its documentation gives.
 */
export async function providerOf(
  modelName: string,
  packageName: string,
): Promise<(modelId: string) => AiSdkLanguageModel> {
  const exported = await load(modelName, packageName);
  const ready = Object.values(exported).find(isReadyProvider);
  if (ready === undefined) {
    const hint = 'Make the model in code and give the agent the object.';
    throw missing(
      packageName,
      `Package ${packageName} of model '${modelName}' exports no ready provider. ${hint}`,
    );
  }
  return (modelId) => {
    const model = ready.languageModel(modelId);
    if (isAiSdkModel(model)) return model;
    throw missing(packageName, `Package ${packageName} made no language model of '${modelName}'.`);
  };
}

interface ReadyProvider {
  languageModel(modelId: string): unknown;
}

function isReadyProvider(value: unknown): value is ReadyProvider {
  return typeof value === 'function' && typeof (value as Partial<ReadyProvider>).languageModel === 'function';
}

/** The package is the application's: it is looked for from the folder that the service was started in. */
async function load(modelName: string, packageName: string): Promise<Record<string, unknown>> {
  let path: string;
  try {
    path = createRequire(join(process.cwd(), 'package.json')).resolve(packageName);
  } catch {
    throw missing(
      packageName,
      `Model '${modelName}' needs the package ${packageName}. Install it: npm install ${packageName}`,
    );
  }
  return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
}

function missing(provider: string, message: string): ModelError {
  return new ModelError(message, { provider, kind: 'configuration' });
}
