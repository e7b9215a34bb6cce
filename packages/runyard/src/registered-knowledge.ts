import type { Spaces } from './capabilities/capability.js';
import type { ComponentsService } from './capabilities/components/service.js';
import { errors } from './core/errors/errors.js';
import type { Knowledge } from './core/knowledge/knowledge.js';
import type { KnowledgeContent } from './core/knowledge/knowledge-space.js';
import type { Database } from './platform/storage/database.js';
import type { RunyardOptions } from './runyard-options.js';

/** What is registered by itself or for configurations, and what registered components use, each once. */
export function allKnowledge(
  { knowledge = [], registry }: Pick<RunyardOptions, 'knowledge' | 'registry'>,
  components: ComponentsService,
): readonly Knowledge[] {
  const used = components.ready().flatMap(({ knowledgeBases = [] }) => knowledgeBases);
  return [...new Set([...knowledge, ...(registry?.knowledge ?? []), ...used])];
}

/** Refuses knowledge bases that cannot be distinguished, and those that are to be stored where nothing is. */
export function checkKnowledge(knowledge: readonly Knowledge[], databases: readonly Database[]): void {
  const known = databases.map(({ id }) => id);
  const seen = new Set<string>();
  for (const { name, settings } of knowledge) {
    // a service has at least its own database
    const { database = known[0]! } = settings;
    if (!known.includes(database))
      throw errors.invalidConfig(
        `Knowledge '${name}' names the database '${database}', which is not registered. Registered: ${known.join(', ')}.`,
      );
    const place = JSON.stringify([database, name]);
    if (seen.has(place))
      throw errors.invalidConfig(
        `Two knowledge bases in the database '${database}' have the name '${name}'. Give one of them another name.`,
      );
    seen.add(place);
  }
}

/** Those with this name, in whichever database; left out: all. */
export function namedKnowledge(
  knowledge: readonly Knowledge[],
  name: string | undefined,
): readonly Knowledge[] {
  const chosen = name === undefined ? knowledge : knowledge.filter((one) => one.name === name);
  if (chosen.length > 0 || name === undefined) return chosen;
  const known = knowledge.map((one) => one.name).join(', ');
  throw errors.invalidConfig(`There is no knowledge base '${name}'. Registered: ${known || 'none'}.`);
}

/** Embeds anew what another embedder has embedded, one content after the other. */
export async function* reembedded(
  spaces: Spaces,
  chosen: readonly Knowledge[],
): AsyncGenerator<{ readonly knowledge: string; readonly content: KnowledgeContent }, void, void> {
  for (const knowledge of chosen) {
    const space = await spaces.get(knowledge.settings.database);
    for await (const content of space.knowledge.of(knowledge).reembedAll())
      yield { knowledge: knowledge.name, content };
  }
}
