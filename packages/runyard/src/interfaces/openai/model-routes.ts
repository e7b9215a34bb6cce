import type { JsonObject } from '../../core/json.js';
import type { OpenaiCall, OpenaiRoute } from './routes.js';

/** `GET /models` and `GET /models/{model}`. */
export const modelRoutes: readonly OpenaiRoute[] = [
  {
    method: 'GET',
    path: '/models',
    summary: 'List the components as models (OpenAI)',
    action: 'read',
    answer: async ({ models, request }) => ({
      object: 'list',
      data: (await models.list(request.caller)).map(({ id }) => modelBody(id)),
    }),
  },
  {
    method: 'GET',
    path: '/models/:model',
    summary: 'Get a component as a model (OpenAI)',
    action: 'read',
    answer: async ({ models, request }: OpenaiCall) => {
      const { model } = await models.target(request.caller, request.params.model ?? '', 'read');
      return modelBody(model);
    },
  },
];

/** The service does not know when a component was first defined: the time is the same for all. */
const created = 1_767_225_600;

function modelBody(id: string): JsonObject {
  return { id, object: 'model', created, owned_by: 'runyard' };
}
