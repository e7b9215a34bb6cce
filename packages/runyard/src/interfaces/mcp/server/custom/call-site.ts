import type { Json, JsonObject } from '../../../../core/json.js';
import type { SessionState, ToolCallSite } from '../../../../core/tools/tool-context.js';
import type { ToolRequest } from '../mcp-tool.js';

/** Where a tool of the application is executed: in no run of an agent, so its state lasts as long as the call. */
export function callSite(request: ToolRequest, signal: AbortSignal): ToolCallSite {
  const { call, caller, context, site } = request;
  return {
    runId: call.runId,
    sessionId: context.sessionId ?? call.runId,
    userId: caller.userId,
    toolCallId: call.runId,
    // the same when the request is dispatched again
    idempotencyKey: call.runId,
    signal,
    state: new CallState(),
    dependencies: caller.bound.dependencies ?? {},
    metadata: {},
    media: [],
    messages: [],
    emit: eventsTo(request),
    log: site.log,
  };
}

/** Progress that the client asked for is progress of the request; everything else is a message of the log. */
function eventsTo({ context, toolName }: ToolRequest): ToolCallSite['emit'] {
  const progressToken = context.mcpReq._meta?.progressToken;
  let last = -1;
  return async (event) => {
    const { progress, message } = event;
    try {
      if (typeof progress !== 'number') {
        await context.mcpReq.log('info', event, toolName);
        return;
      }
      // the protocol wants each message to count more than the last
      if (progressToken === undefined || progress <= last) return;
      last = progress;
      const text = typeof message === 'string' ? { message } : {};
      const params = { progressToken, progress, total: 1, ...text };
      await context.mcpReq.notify({ method: 'notifications/progress', params });
    } catch {
      // a client that is gone misses the message, and nothing else
    }
  };
}

class CallState implements SessionState {
  readonly #values = new Map<string, Json>();

  get(key: string): Json | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Json): void {
    this.#values.set(key, value);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }

  all(): JsonObject {
    return structuredClone(Object.fromEntries(this.#values));
  }
}
