import { z } from 'zod';
import { mostCharacters } from '../../../core/configs/config-bounds.js';
import type { Json } from '../../../core/json.js';
import { lazyObject, lazySchema } from '../../../core/schemas/lazy-schema.js';
import { formBoolean, formInteger, withoutPrototype } from '../../../platform/http/request/fields.js';
import { largestPage, pageBody, pageQuery } from '../../../platform/http/request/pagination.js';

/** How much of each field is stored. */
const bounds = {
  name: 255,
  label: 255,
  description: 10_000,
  notes: 10_000,
  /** Characters of the JSON text. */
  metadata: 100_000,
  config: mostCharacters,
  links: 500,
  linkMeta: 10_000,
  /** The largest number that a caller may give: the versions after it need numbers, too. */
  version: 1_000_000_000,
} as const;

const kinds = ['agent', 'team', 'workflow'] as const;

function object(what: string, most: number) {
  const given = z
    .record(z.string(), z.custom<Json>())
    .refine(
      (value) => JSON.stringify(value).length <= most,
      `${what} must have at most ${most} characters as JSON`,
    );
  return withoutPrototype(given);
}

export const componentType = lazySchema(() => z.enum(kinds), {
  id: 'ComponentType',
  description: 'What a component runs as.',
});
const name = () => z.string().max(bounds.name).meta({ description: 'The name of the component.' });
const description = () =>
  z.string().max(bounds.description).nullable().optional().meta({ description: 'What it is for.' });
const metadata = () =>
  object('metadata', bounds.metadata)
    .nullable()
    .optional()
    .meta({ description: 'Facts of your own. They must hold no secrets.' });
const config = () =>
  object('config', bounds.config).meta({
    description: 'The settings, by the keys of the configuration reference. A secret in it is refused.',
    examples: [{ model: 'offline', instructions: 'Greet the user.' }],
  });
const label = () =>
  z
    .string()
    .max(bounds.label)
    .nullable()
    .optional()
    .meta({ description: 'A name for this version that no other version of the component has.' });
const notes = () =>
  z.string().max(bounds.notes).nullable().optional().meta({ description: 'What is new in this version.' });
const stage = () =>
  z
    .string()
    .max(50)
    .meta({
      description: 'draft, which can be changed, or published, which never changes.',
      examples: ['draft'],
    });
const setCurrent = () =>
  z.boolean().nullable().optional().meta({
    description: 'Whether a published version becomes the current one. A draft never does. Default: true.',
  });

const expectedRevision = () =>
  z.int().nullable().optional().meta({
    description: 'The revision that you have read. 409 if another editor changed it since.',
    'x-addition': true,
  });

const link = lazyObject(
  () => ({
    link_kind: z
      .string()
      .min(1)
      .max(64)
      .meta({ description: 'member, step_agent, step_team or step_workflow.', examples: ['member'] }),
    link_key: z
      .string()
      .min(1)
      .max(300)
      .meta({ description: 'member_0 for the first member; the name of a step.', examples: ['member_0'] }),
    child_component_id: z.string().min(1).max(255),
    child_version: z.int().nullable().optional().meta({ description: 'The version that is pinned.' }),
    position: z.int().min(0).max(1_000_000).optional(),
    meta: object('meta', bounds.linkMeta).nullable().optional(),
  }),
  { id: 'ComponentLink', description: 'Pins a version of a component that a configuration names.' },
);

const links = () =>
  z
    .array(link)
    .max(bounds.links)
    .check((payload) => {
      const seen = new Set<string>();
      payload.value.forEach(({ link_kind: kind, link_key: key }, index) => {
        const one = `${kind}\n${key}`;
        if (seen.has(one))
          payload.issues.push({
            code: 'custom',
            input: payload.value,
            path: [index, 'link_key'],
            message: `two links have the kind '${kind}' and the key '${key}'`,
          });
        seen.add(one);
      });
    })
    .nullable()
    .optional()
    .meta({ description: 'The pinned versions of other components. They replace all links of the version.' });

export type GivenLink = z.output<typeof link>;

export const createComponentBody = lazyObject(
  () => ({
    name: name(),
    component_type: componentType,
    component_id: z.string().max(1000).nullable().optional().meta({
      description:
        "The id in URLs: letters, digits, '-', '_', '.' and '~'. Default: the name in lower case, with '-' for blanks.",
    }),
    description: description(),
    metadata: metadata(),
    config: config().nullable().optional(),
    label: label(),
    stage: stage().default('draft'),
    notes: notes(),
    set_current: setCurrent(),
  }),
  {
    id: 'ComponentCreate',
    description: 'A component to create, with its first version.',
    examples: [
      {
        name: 'Receptionist',
        component_type: 'agent',
        config: { model: 'offline', instructions: 'Greet the user.' },
      },
    ],
  },
);
export type CreateComponentBody = z.output<typeof createComponentBody>;

export const updateComponentBody = lazyObject(
  () => ({
    name: name().nullable().optional(),
    description: description(),
    component_type: z.string().max(100).nullable().optional(),
    metadata: metadata(),
    current_version: z.int().nullable().optional().meta({
      description: 'A published version that becomes the current one.',
    }),
    expected_revision: expectedRevision(),
  }),
  {
    id: 'ComponentUpdate',
    description:
      'What to change. Fields that are left out stay as they are; null removes the description and the metadata.',
    examples: [{ description: 'Greets users in their language.' }],
  },
);
export type UpdateComponentBody = z.output<typeof updateComponentBody>;

export const createConfigBody = lazyObject(
  () => ({
    config: config(),
    version: z.int().min(1).max(bounds.version).nullable().optional().meta({
      description: 'A number above all that the component ever had. Default: the next one.',
    }),
    label: label(),
    stage: stage().default('draft'),
    notes: notes(),
    links: links(),
    set_current: setCurrent(),
    expected_revision: expectedRevision(),
  }),
  {
    id: 'ConfigCreate',
    description: 'A version to add.',
    examples: [{ config: { model: 'offline', instructions: 'Greet the user warmly.' }, notes: 'Warmer' }],
  },
);
export type CreateConfigBody = z.output<typeof createConfigBody>;

export const updateConfigBody = lazyObject(
  () => ({
    config: config().nullable().optional(),
    label: label(),
    stage: stage().nullable().optional(),
    notes: notes(),
    links: links(),
    expected_revision: expectedRevision(),
  }),
  {
    id: 'ConfigUpdate',
    description:
      'What to change of a draft. Fields that are left out stay as they are; null removes the label and the notes. ' +
      'The configuration is replaced as a whole, and so are the links.',
    examples: [{ stage: 'published' }],
  },
);
export type UpdateConfigBody = z.output<typeof updateConfigBody>;

const includeDeleted = lazySchema(() => formBoolean().default(false), {
  description: 'Deleted components as well.',
  'x-addition': true,
});

export const listComponentsQuery = lazyObject(() => ({
  component_type: componentType.optional(),
  include_deleted: includeDeleted,
  ...pageQuery({ default: 20, max: 100 }),
}));

export const getComponentQuery = lazyObject(() => ({ include_deleted: includeDeleted }));

export const listConfigsQuery = lazyObject(() => ({
  include_config: formBoolean().default(true).meta({ description: 'Whether to show what they hold.' }),
  ...pageQuery({ default: largestPage, max: largestPage }),
}));

/** The same as `expectedRevision` in the query of requests without a body. */
export const revisionQuery = lazyObject(() => ({
  expected_revision: formInteger().optional().meta({
    description: 'The revision that you have read. 409 if another editor changed it since.',
    'x-addition': true,
  }),
}));
export const listDependentsQuery = lazyObject(() => pageQuery({ default: 20, max: 100 }));
export const listHistoryQuery = lazyObject(() => pageQuery({ default: 20, max: 100 }));

export const diffQuery = lazyObject(() => ({
  from: formInteger().meta({ description: 'The older version.' }),
  to: formInteger().meta({ description: 'The newer version.' }),
  from_revision: formInteger()
    .optional()
    .meta({ description: 'An earlier save of it. Default: the newest.' }),
  to_revision: formInteger().optional().meta({ description: 'An earlier save of it. Default: the newest.' }),
}));

const componentId = lazySchema(() => z.string(), {
  description: 'The identifier of the component.',
  examples: ['receptionist'],
});
export const componentParams = lazyObject(() => ({ component_id: componentId }));
export const versionParams = lazyObject(() => ({
  component_id: componentId,
  version: formInteger().meta({ description: 'The number of the version.' }),
}));

const degraded = lazySchema(() => z.string().optional(), {
  description: 'In the answer to a change: why the component cannot run as it is now.',
  'x-addition': true,
});
const seconds = () => z.int().meta({ description: 'Seconds since 1970, UTC.' });
const editors = () => ({
  revision: z.int().meta({ description: 'Send it as expected_revision with a change.', 'x-addition': true }),
  created_by: z.string().optional().meta({ description: 'The user or service account.', 'x-addition': true }),
  updated_by: z.string().optional().meta({ description: 'The user or service account.', 'x-addition': true }),
});

export const componentBody = lazyObject(
  () => ({
    component_id: z.string(),
    component_type: componentType,
    name: z.string().optional(),
    description: z.string().optional(),
    current_version: z
      .int()
      .optional()
      .meta({ description: 'The version that runs. A component with drafts alone has none.' }),
    metadata: z.looseObject({}).optional(),
    created_at: seconds(),
    updated_at: seconds().optional(),
    deleted_at: seconds().optional().meta({ 'x-addition': true }),
    ...editors(),
    degraded,
  }),
  { id: 'Component', description: 'An agent, a team or a workflow that is stored as data.' },
);

export const componentsPage = pageBody(componentBody, 'ComponentsPage');

export const configBody = lazyObject(
  () => ({
    component_id: z.string(),
    version: z.int(),
    label: z.string().optional(),
    stage: z.string().meta({ description: 'draft or published.' }),
    config: z.looseObject({}).optional().meta({ description: 'Left out with include_config=false.' }),
    notes: z.string().optional(),
    created_at: seconds(),
    updated_at: seconds().optional(),
    ...editors(),
    degraded,
  }),
  { id: 'ComponentConfig', description: 'A version of a component.' },
);

export const linksBody = lazyObject(
  () => ({
    component_id: z.string(),
    version: z.int(),
    revision: z.int(),
    links: z.array(
      z.object({
        link_kind: z.string(),
        link_key: z.string(),
        child_component_id: z.string(),
        child_version: z.int(),
        position: z.int(),
        meta: z.looseObject({}).optional(),
      }),
    ),
  }),
  { id: 'ComponentConfigLinks', description: 'The pinned versions of a version.' },
);

const value = lazySchema(() => z.unknown().optional());

const changeBody = lazyObject(
  () => ({
    number: z.int(),
    action: z.string().meta({
      description:
        'created, changed, deleted, restored, version_created, version_saved, version_published, version_deleted or current_set.',
    }),
    version: z.int().optional(),
    revision: z.int().optional(),
    fields: z
      .array(z.object({ field: z.string(), before: value, after: value }))
      .meta({ description: 'The changed fields. Long values are left out: compare the versions.' }),
    changed_by: z.string().optional(),
    changed_at: seconds(),
  }),
  { id: 'ComponentChange', description: 'An entry of the history of a component.' },
);

export const historyPage = pageBody(changeBody, 'ComponentHistoryPage');

const comparedVersion = lazyObject(() => ({
  version: z.int(),
  revision: z.int(),
  stage: z.string(),
  label: z.string().optional(),
}));

export const diffBody = lazyObject(
  () => ({
    component_id: z.string(),
    from: comparedVersion,
    to: comparedVersion,
    changes: z.array(
      z.object({
        path: z.string().meta({ examples: ['tools[0].name'] }),
        kind: z.string().meta({ description: 'added, removed or changed.' }),
        before: value,
        after: value,
        lines: z.array(z.string()).optional().meta({
          description:
            "Of a changed text of several lines: removed lines begin with '- ', added ones with '+ '.",
        }),
      }),
    ),
    truncated: z.boolean().meta({ description: 'Whether there are more than 1,000 changes.' }),
  }),
  { id: 'ComponentDiff', description: 'What differs between two versions, field by field.' },
);
