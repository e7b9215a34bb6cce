import { z } from 'zod';
import { registryTypes } from '../../core/registry/registry-entries.js';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import { pageBody, pageQuery } from '../../platform/http/request/pagination.js';

const type = lazySchema(() => z.enum(registryTypes));

export const registryQuery = lazyObject(() => ({
  resource_type: type.optional().meta({
    description: 'Only entries of this type. hook, guardrail and embedder are additions.',
  }),
  name: z
    .string()
    .max(255)
    .optional()
    .meta({ description: 'Only entries with this text in their name, in letters of either case.' }),
  ...pageQuery({ default: 20, max: 100 }),
}));

const entry = lazyObject(
  () => ({
    name: z.string().meta({ description: 'What configurations refer to it by.' }),
    type,
    id: z.string().optional(),
    description: z.string().optional(),
    metadata: z.looseObject({}).optional().meta({
      description:
        'What is known about it: for a tool its parameters, for a schema the JSON schema, for a model its provider.',
    }),
  }),
  {
    id: 'RegistryEntry',
    description: 'Something that stored configurations can refer to by its name.',
    examples: [
      {
        name: 'gpt-5-mini',
        type: 'model',
        metadata: { class_path: 'runyard.models.OpenAIChat', provider: 'OpenAI', model_id: 'gpt-5-mini' },
      },
    ],
  },
);

export const registryPage = pageBody(entry, 'RegistryPage');
