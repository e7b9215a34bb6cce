import type { AnyAgent } from '../agents/agent.js';
import { describeModel, type ModelDescription, type ModelLike } from '../models/resolve.js';
import type { AnyTeam } from '../teams/team.js';
import type { Tool } from '../tools/tool.js';
import { collect, type RegistrySources } from './collect.js';
import { type NamedThings, preferred, type Registered } from './named-things.js';
import { RegisteredThings } from './registered-things.js';
import { type RegistryEntry, registryEntries } from './registry-entries.js';

/** What stored configurations may refer to: what is registered, and what the components of the code use. */
export class Registry extends RegisteredThings {
  constructor(sources: RegistrySources = {}) {
    super();
    collect(this, sources);
  }

  /** All of it, by type and in the order of the code. */
  entries(databases?: readonly string[]): readonly RegistryEntry[] {
    return registryEntries(this, databases);
  }

  /** The models that fit a reference. */
  findModels({ id, provider, name }: Partial<ModelDescription>): readonly Registered<ModelLike>[] {
    if (id === undefined) return [];
    const fitting = this.models.named(id).filter(({ thing }) => {
      const model = describeModel(thing);
      return (
        (provider === undefined || model.provider === provider) && (name === undefined || model.name === name)
      );
    });
    return preferred(fitting);
  }

  /** An agent or a team that the code uses within others, and that no list of components has. */
  member(kind: string, id: string): AnyAgent | AnyTeam | undefined {
    const found = this.members.find(id).filter(({ thing }) => thing.kind === kind);
    return found.length === 1 ? found[0]?.thing : undefined;
  }

  /** A tool by its name: one that stands by itself comes before one of a kit. */
  findTool(name: string): NamedThings<Tool> {
    return this.tools.find(name).length === 0 && this.toolsInKits.find(name).length > 0
      ? this.toolsInKits
      : this.tools;
  }
}
