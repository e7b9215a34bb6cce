import { z } from 'zod';
import type { Services } from '../../../capabilities/capability.js';
import type { PushConfig } from '../../../capabilities/push-notifications/service.js';
import { errors } from '../../../core/errors/errors.js';
import type { RunKind } from '../../../core/runs/run.js';
import { lazyObject } from '../../../core/schemas/lazy-schema.js';
import { defineRoute, type Route } from '../../../platform/http/route.js';
import type { A2aConfig } from '../options.js';

const delivery = lazyObject(() => ({
  config_id: z.string(),
  state: z.enum(['waiting', 'pending', 'delivered', 'failed']),
  attempts: z.int().describe('How often the last notification was attempted.'),
  error: z.string().nullable().describe('Why the last attempt failed.'),
  next_attempt_at: z.string().nullable(),
  updated_at: z.string(),
}));

/** How the notifications of a task went: the protocol has no words for it. */
export function deliveryRoutes(config: A2aConfig): Route<Services>[] {
  if (config.push === undefined) return [];
  return (['agent', 'team', 'workflow'] as const).map((kind) => deliveryRoute(config, kind));
}

function deliveryRoute({ prefix, exposes }: A2aConfig, kind: RunKind): Route<Services> {
  const parameter = `${kind}_id`;
  return defineRoute({
    method: 'GET',
    path: `${prefix}/${kind}s/:${parameter}/tasks/:task_id/pushNotificationDeliveries`,
    operationId: `list_${prefix.slice(1).replaceAll(/\W/g, '_')}_${kind}_push_deliveries`,
    scope: [`${kind}s:read`, `${kind}s:run`],
    addition: true,
    tag: 'A2A',
    summary: `List how the push notifications of a task of ${kind === 'agent' ? 'an' : 'a'} ${kind} went`,
    params: z.object({ [parameter]: z.string(), task_id: z.string() }),
    responses: { 200: z.object({ deliveries: z.array(delivery) }) },
    async handler({ pushNotifications }: Services, { params, caller }) {
      const componentId = String(params[parameter]);
      if (!exposes(kind, componentId)) throw errors.componentNotFound(kind);
      const place = { kind, componentId, runId: String(params.task_id) };
      return { deliveries: (await pushNotifications.list(caller, place, prefix)).map(deliveryBody) };
    },
  });
}

function deliveryBody({ configId, delivery: { state, attempts, error, nextAt, updatedAt } }: PushConfig) {
  return {
    config_id: configId,
    state,
    attempts,
    error,
    next_attempt_at: nextAt === null ? null : new Date(nextAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
  };
}
