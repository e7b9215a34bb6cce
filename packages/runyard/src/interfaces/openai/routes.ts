import { z } from 'zod';
import type { Services } from '../../capabilities/capability.js';
import { defineRoute, type HttpMethod, type Route, type RouteRequest } from '../../platform/http/route.js';
import { ModelNames } from './model-names.js';
import type { OpenaiConfig } from './options.js';
import { errorReply } from './protocol-errors.js';

/** A request of a client, and what answers it. */
export interface OpenaiCall {
  readonly services: Services;
  readonly config: OpenaiConfig;
  readonly models: ModelNames;
  readonly request: RouteRequest<
    Readonly<Record<string, string>>,
    Readonly<Record<string, unknown>>,
    unknown
  >;
}

export interface OpenaiRoute {
  readonly method: HttpMethod;
  /** Below the prefix of the interface. */
  readonly path: string;
  readonly summary: string;
  /** What a caller needs for one component at least; which one it is, the answer checks. */
  readonly action: 'run' | 'read';
  /** In the place of that: the scope of a route of the REST API that does the same. */
  readonly scope?: string;
  readonly answer: (call: OpenaiCall) => unknown;
}

const ofAll = (...actions: string[]) =>
  actions.flatMap((action) => ['agents', 'teams', 'workflows'].map((kinds) => `${kinds}:${action}`));
const scopes = { run: ofAll('run'), read: ofAll('read', 'run') };

/** The routes of one mounted interface. Their errors have the form of the protocol. */
export function openaiRoutes(config: OpenaiConfig, routes: readonly OpenaiRoute[]): Route<Services>[] {
  return routes.map(({ method, path, summary, action, scope, answer }) => {
    const whole = config.prefix + path;
    return defineRoute({
      method,
      path: whole,
      operationId: `openai_${method}${whole.replace(/[^A-Za-z0-9]+/g, '_')}`.toLowerCase(),
      scope: scope ?? scopes[action],
      tag: 'OpenAI',
      summary,
      params: z.record(z.string(), z.string()),
      ...(method === 'GET' && { query: z.looseObject({}) }),
      ...(method === 'POST' && { body: z.unknown(), carriesFiles: true }),
      responses: { 200: { description: 'The answer of the protocol, or the stream of its chunks.' } },
      addition: true,
      undocumented: true,
      encodeError: errorReply,
      handler: (services: Services, request) => {
        // the schemas above are those of a request
        const given = request as OpenaiCall['request'];
        return answer({
          services,
          config,
          models: new ModelNames(config, services.components),
          request: given,
        });
      },
    });
  });
}
