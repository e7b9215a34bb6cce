import { z } from 'zod';
import { lazyObject, lazySchema } from '../../../core/schemas/lazy-schema.js';
import { pageBody } from '../../../platform/http/request/pagination.js';
import { componentType } from './schema.js';

const dependentBody = lazyObject(
  () => ({
    component_id: z.string(),
    component_type: componentType,
    name: z.string(),
    version: z.int(),
    stage: z.string(),
    is_current: z.boolean().meta({ description: 'Whether that is the current version of the dependent.' }),
    link_kind: z.string(),
    link_key: z.string(),
    child_version: z
      .int()
      .optional()
      .meta({ description: 'The pinned version. Left out where the dependent takes the current one.' }),
  }),
  { id: 'ComponentDependent', description: 'A version of a component that refers to another one.' },
);

const dependentSchedule = lazyObject(
  () => ({
    id: z.string(),
    name: z.string(),
    endpoint: z.string(),
    enabled: z.boolean(),
    child_version: z
      .int()
      .optional()
      .meta({ description: 'The pinned version. Left out where the schedule takes the current one.' }),
  }),
  { id: 'ComponentDependentSchedule', description: 'A schedule that runs or evaluates a component.' },
);

export const dependentsPage = lazySchema(
  () =>
    pageBody(dependentBody, 'ComponentDependentsPage').extend({
      schedules: z.array(dependentSchedule).meta({
        description:
          'On each page: the newest 100 schedules that the caller may see and that name the component.',
      }),
    }),
  { id: 'ComponentDependentsPage', description: 'A page of a list.' },
);
