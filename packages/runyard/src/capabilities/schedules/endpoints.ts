import { errors, RunyardError } from '../../core/errors/errors.js';
import { segmentsOf } from '../../core/schedules/endpoint.js';
import type { DefinedSchedule } from '../../core/schedules/schedule.js';
import type { Method } from '../../core/schedules/schedule-definition.js';
import { assertMay } from '../../platform/auth/authenticator.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { RequiredScope, RouteFacts } from '../../platform/http/route.js';

interface KnownRoute {
  readonly method: string;
  readonly segments: readonly string[];
  /** Null where any caller will do. */
  readonly scope: RequiredScope;
}

/** The routes that schedules can call, and who may call them. */
export class Endpoints {
  readonly #routes: readonly KnownRoute[];

  /** `others`: whether the application has routes of its own, which every caller with a valid identity may call. */
  constructor(
    routes: readonly RouteFacts[],
    private readonly others: boolean,
  ) {
    this.#routes = routes
      .map(({ method, path, scope }) => ({
        method,
        segments: path.split('/').slice(1),
        scope: scope ?? null,
      }))
      // as the router: a name goes before a parameter
      .sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
  }

  /** Throws 403 with the scope that the caller lacks, and 422 for an endpoint that nothing answers. */
  assertMayCall(caller: Caller, method: Method, endpoint: string): void {
    const segments = segmentsOf(endpoint);
    if (method === 'POST' && isTrigger(segments)) throw errors.endpointTriggers();
    for (const route of this.#routes) {
      const params = route.method === method ? paramsOf(route.segments, segments) : undefined;
      if (params === undefined) continue;
      assertMay(caller, { scope: route.scope, params });
      return;
    }
    if (!this.others) throw errors.endpointUnknown(method, endpoint);
  }

  /** The same for the schedules of the code, which call as the service itself. */
  assertOwn(service: Caller, schedules: readonly DefinedSchedule[]): void {
    for (const { definition } of schedules) {
      try {
        this.assertMayCall(service, definition.method, definition.endpoint);
      } catch (error) {
        if (!(error instanceof RunyardError)) throw error;
        throw errors.invalidConfig(`Schedule '${definition.name}': ${error.message}`);
      }
    }
  }
}

function isTrigger([group, , action, ...more]: readonly string[]): boolean {
  return group === 'schedules' && action === 'trigger' && more.length === 0;
}

function orderOf({ segments }: KnownRoute): string {
  return segments.map((segment) => (segment.includes(':') ? '\uffff' : segment)).join('/');
}

const parameterPattern = /^:(\w+)$/;

/** The parameters of a path that a route answers. */
function paramsOf(
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    const [, name] = parameterPattern.exec(part) ?? [];
    if (name === undefined) {
      if (part.replaceAll('::', ':') !== segment) return undefined;
    } else if (segment === '') return undefined;
    else params[name] = segment;
  }
  return params;
}
