import { type EmbedderLike, embedder as embedderKind } from '../../embedders/resolve.js';
import type { ConfigValue } from '../config-keys.js';
import { nameFor, nameIn } from './named-values.js';

/** The name of a registered embedder, or a text such as `openai:text-embedding-3-small`. */
export const embedder: ConfigValue = {
  read: (value, at) => {
    const name = nameIn(value, at);
    if (name === undefined) return undefined;
    const found = at.site?.registry.embedders.find(name) ?? [];
    if (found[0] !== undefined) return found[0].thing;
    // the text names a package that is loaded: only code may decide which
    if (at.site !== undefined && name.startsWith('ai-sdk:'))
      return at.fault(`is '${name}', an embedder of a package that the code does not use.`);
    return at.checked(embedderKind, name) === undefined ? undefined : name;
  },
  write: (setting, at) => {
    // the settings with this value hold embedders only
    const given = setting as EmbedderLike;
    return typeof given === 'string' ? given : nameFor(at.registry.embedders, given, at);
  },
};
