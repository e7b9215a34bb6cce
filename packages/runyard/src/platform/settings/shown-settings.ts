import { z } from 'zod';
import { setting } from './setting.js';

const label = () => z.string().min(1).max(200);

const manifestEntry = () =>
  z.strictObject({
    description: z.string().max(2000).optional(),
    labels: z.array(label()).max(50).optional(),
    quickPrompts: z.array(z.string().min(1).max(2000)).max(50).optional(),
  });

const sectionNames = ['session', 'metrics', 'memory', 'learning', 'knowledge', 'evals', 'traces'] as const;

/** What clients show about the service and its components. It changes nothing else. */
export const shownSettings = {
  manifest: setting({
    about: 'What clients show about components, by id: a description, labels, and prompts to choose from.',
    default: {},
    allowed: 'a map from the id of a component to { description, labels, quickPrompts }',
    schema: () => z.record(z.string().min(1).max(255), manifestEntry()),
  }),
  displayNames: setting({
    about: 'The names that clients show for sections of data and for databases; ids by default.',
    default: {},
    allowed: `{ sections, databases }; the sections are ${sectionNames.join(', ')}`,
    schema: () =>
      z.strictObject({
        sections: z.partialRecord(z.enum(sectionNames), label()).optional(),
        databases: z.record(z.string(), label()).optional(),
      }),
  }),
  availableModels: setting({
    about: 'The models that clients offer; those of the components when left out.',
    schema: () => z.array(label()).max(1000),
  }),
};

interface ShownNames {
  readonly sections?: Readonly<Partial<Record<string, string>>> | undefined;
  readonly databases?: Readonly<Record<string, string>> | undefined;
}

/** A section of `/config`: what a client has to know to ask for one group's part of each database. */
export function configSection(
  section: { readonly name: string; readonly table?: string },
  databases: readonly { readonly id: string }[],
  { displayNames: { sections = {}, databases: names = {} } }: { readonly displayNames: ShownNames },
) {
  const displayName = sections[section.name];
  return {
    ...(displayName !== undefined && { display_name: displayName }),
    dbs: databases.map(({ id }) => ({
      db_id: id,
      domain_config: { display_name: names[id] ?? id },
      ...(section.table !== undefined && { tables: [section.table] }),
    })),
  };
}
