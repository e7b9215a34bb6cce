import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fieldsOf } from '../../objects.js';
import type { ModelName } from '../model-name.js';
import { cannotCall, type NamedThing } from '../named-connection.js';

/**
 * What the provider that a package of the AI SDK exports makes of a name. The provider is ready for use: it takes
 * its key from the environment by itself, under the name that its documentation gives. `makers` are the names of
 * the methods that make it; the first one that the provider has counts.
 */
export async function packaged<Made>(
  thing: NamedThing,
  name: ModelName,
  makers: readonly string[],
  isMade: (value: unknown) => value is Made,
): Promise<Made> {
  const { text, id, packageName = '' } = name;
  const refuse = (message: string) => cannotCall({ provider: packageName }, message);
  if (id === '' || packageName === '@ai-sdk/') {
    throw refuse(`${thing} '${text}' names no model. Write ai-sdk:<provider>:<model>.`);
  }
  const exported = await load(packageName, () =>
    refuse(`${thing} '${text}' needs the package ${packageName}. Install it: npm install ${packageName}`),
  );
  for (const provider of Object.values(exported)) {
    if (typeof provider !== 'function') continue;
    const methods = fieldsOf(provider);
    const maker = makers.map((name) => methods[name]).find((method) => typeof method === 'function');
    if (maker === undefined) continue;
    const made: unknown = maker.call(provider, id);
    if (isMade(made)) return made;
    throw refuse(`Package ${packageName} made nothing usable of '${text}'.`);
  }
  const hint = 'Make the object in code and give that.';
  throw refuse(`Package ${packageName} of '${text}' exports no ready provider. ${hint}`);
}

/** The package is the application's: it is looked for from the folder that the service was started in. */
async function load(packageName: string, missing: () => Error): Promise<Record<string, unknown>> {
  let path: string;
  try {
    path = createRequire(join(process.cwd(), 'package.json')).resolve(packageName);
  } catch {
    throw missing();
  }
  return await import(pathToFileURL(path).href);
}
