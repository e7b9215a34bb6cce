import { z } from 'zod';
import type { Services } from '../../capabilities/capability.js';
import { errors, RunyardError } from '../../core/errors/errors.js';
import type { RunKind } from '../../core/runs/run.js';
import { lazyObject } from '../../core/schemas/lazy-schema.js';
import { runIdHeader } from '../../platform/http/response/respond.js';
import { type EventStreamReply, eventStream } from '../../platform/http/response/results.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
import type { ComponentName } from '../common/exposed-components.js';
import { type AguiCall, assertMayWith } from './call.js';
import { shortStream } from './events/run-stream.js';
import { type Answer, cancel, connect, run } from './operations.js';
import type { AguiConfig } from './options.js';
import { runInput } from './run-input.js';

type AguiRoute = Route<Services>;

/** The routes of one mounted interface: one endpoint, or one for each component. */
export function aguiRoutes(config: AguiConfig): readonly AguiRoute[] {
  const { prefix, only } = config;
  const kinds = ['agent', 'team', 'workflow'] as const;
  const places = only
    ? [new Endpoint(config, `${prefix}/agui`, () => only, null)]
    : kinds.map((kind) => componentEndpoint(config, kind));
  return [statusRoute(config), ...places.flatMap((place) => place.routes())];
}

function componentEndpoint(config: AguiConfig, kind: RunKind): Endpoint {
  const name = `${kind}_id`;
  const path = `${config.prefix}/agui/${kind}s/:${name}`;
  return new Endpoint(config, path, (params) => ({ kind, componentId: params[name] ?? '' }), [
    `${kind}s:read`,
    `${kind}s:run`,
  ]);
}

const cancelInput = lazyObject(() => ({
  threadId: runInput.shape.threadId,
  runId: runInput.shape.runId.optional(),
}));
const answers = { 200: { description: 'The stream of the events of the protocol.' } };

class Endpoint {
  constructor(
    private readonly config: AguiConfig,
    private readonly path: string,
    private readonly targetOf: (params: Readonly<Record<string, string>>) => ComponentName,
    /** Before the body is read. What exactly a request needs is checked with the component. */
    private readonly scope: readonly string[] | null,
  ) {}

  routes(): readonly AguiRoute[] {
    return [
      this.stream('', 'run', (call) => {
        assertMayWith(call, 'run');
        return run(call);
      }),
      this.stream('/connect', 'connect', (call) => {
        assertMayWith(call, 'read', 'run');
        return connect(call);
      }),
      this.cancelRoute(),
    ];
  }

  private stream(below: string, name: string, answer: (call: AguiCall) => Promise<Answer>): AguiRoute {
    return defineRoute({
      ...this.facts(below, name),
      body: runInput,
      carriesFiles: true,
      responses: answers,
      handler: (services: Services, { params, body, caller, headers, signal }) => {
        const { traceparent } = headers;
        const traceParent = typeof traceparent === 'string' ? traceparent : undefined;
        const target = this.target(params);
        const call = { services, caller, target, input: body, traceParent, disconnected: () => signal };
        return streamed(() => answer(call));
      },
    });
  }

  private cancelRoute(): AguiRoute {
    return defineRoute({
      ...this.facts('/cancel', 'cancel'),
      body: cancelInput,
      responses: { 200: { description: 'The run whose end was asked for.' } },
      handler: (services: Services, { params, body, caller, signal }) => {
        const { threadId, runId = '' } = body;
        const input = { threadId, runId, messages: [], tools: [], context: [], forwardedProps: null };
        const target = this.target(params);
        const call = { services, caller, target, input, traceParent: undefined, disconnected: () => signal };
        assertMayWith(call, 'run');
        return cancel(call);
      },
    });
  }

  private facts(below: string, name: string) {
    const path = this.path + below;
    return {
      method: 'POST',
      path,
      operationId: `agui_${name}${path.replace(/[^A-Za-z0-9]+/g, '_')}`.toLowerCase(),
      scope: this.scope,
      tag: 'AG-UI',
      summary: `${name} (AG-UI)`,
      params: z.record(z.string(), z.string()),
      addition: true,
      undocumented: true,
    } as const;
  }

  private target(params: Readonly<Record<string, string>>): ComponentName {
    const target = this.targetOf(params);
    if (!this.config.exposes(target.kind, target.componentId) && this.config.only === undefined)
      throw errors.componentNotFound(target.kind);
    return target;
  }
}

function statusRoute({ prefix }: AguiConfig): AguiRoute {
  return defineRoute({
    method: 'GET',
    path: `${prefix}/status`,
    operationId: `agui_status${prefix.replace(/[^A-Za-z0-9]+/g, '_')}`.toLowerCase(),
    scope: null,
    tag: 'AG-UI',
    summary: 'status (AG-UI)',
    responses: { 200: z.object({ status: z.literal('available') }) },
    addition: true,
    undocumented: true,
    handler: () => ({ status: 'available' }),
  });
}

/** Refusals of the place itself have a status. Those of what was asked for come as the protocol has them. */
const ofPlace = new Set([401, 403, 413, 415, 422, 429]);
const unknownPlaces = new Set(['agent_not_found', 'team_not_found', 'workflow_not_found']);

async function streamed(answer: () => Promise<Answer>): Promise<EventStreamReply> {
  try {
    const { source, runId } = await answer();
    return eventStream(source, runId === undefined ? undefined : runIdHeader(runId));
  } catch (error) {
    if (!(error instanceof RunyardError) || error.status >= 500) throw error;
    if (ofPlace.has(error.status) || unknownPlaces.has(error.code)) throw error;
    return eventStream(shortStream([{ type: 'RUN_ERROR', message: messageOf(error), code: error.code }]));
  }
}

function messageOf({ detail, message }: RunyardError): string {
  return typeof detail === 'string' ? detail : message;
}
