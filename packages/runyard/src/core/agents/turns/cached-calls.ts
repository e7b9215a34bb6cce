import { isJsonObject, parseJson } from '../../json.js';
import { cachedModel, type KeptAnswers } from '../../models/cache/cached-model.js';
import { requestKey } from '../../models/cache/request-key.js';
import { longestResponse, type ResponseCaching } from '../../models/cache/response-cache.js';
import type { Model, ModelRequest, ModelResponse } from '../../models/model.js';
import { isGated } from '../../tools/call/gate.js';
import type { AgentSettings } from '../definition.js';
import type { AgentExecution } from '../execution.js';

const dayMs = 86_400_000;
const noUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** The model to call: with `cacheResponses` one that is asked only what it was not asked before. */
export function withCache(execution: AgentExecution, model: Model): Model {
  const caching = cachingOf(execution.agent.settings);
  return caching === undefined ? model : cachedModel(model, new CachedAnswers(execution, caching));
}

function cachingOf({ cacheResponses = false }: AgentSettings): ResponseCaching | undefined {
  return cacheResponses === true ? {} : cacheResponses || undefined;
}

/** The answers that the database keeps, as one run may use them. A cache that fails is as good as an empty one. */
class CachedAnswers implements KeptAnswers {
  constructor(
    private readonly execution: AgentExecution,
    private readonly caching: ResponseCaching,
  ) {}

  async find(key: string): Promise<ModelResponse | undefined> {
    const { ports, run, log } = this.execution.context;
    // a caller who asks for another answer is not given the same one
    if (run.lineage?.regeneratedFrom !== undefined) return undefined;
    try {
      const kept = await ports.responses.get(key);
      if (kept === undefined) return undefined;
      const response = parseJson(kept);
      if (!isJsonObject(response)) return undefined;
      // `keep` wrote it, and the key has the version of its form
      return { ...(response as unknown as ModelResponse), usage: noUsage, cached: true };
    } catch (err) {
      log.warn({ err, runId: run.runId }, 'the response cache could not be read');
      return undefined;
    }
  }

  async keep(key: string, response: ModelResponse): Promise<void> {
    const { ports, run, log } = this.execution.context;
    try {
      if (!(await this.mayKeep(response))) return;
      const { usage: _paid, ...kept } = response;
      const text = JSON.stringify(kept);
      if (text.length > longestResponse) return;
      const { ttlMs = dayMs } = this.caching;
      await ports.responses.put({ key, response: text, sessionId: run.sessionId, ttlMs });
    } catch (err) {
      log.warn({ err, runId: run.runId }, 'an answer could not be kept in the response cache');
    }
  }

  /** Whole answers only. What a person has to confirm or do is asked for by a model that was called for this very run. */
  private async mayKeep({ content, finishReason, media, toolCalls }: ModelResponse): Promise<boolean> {
    const { context, output, tools } = this.execution;
    if ((finishReason !== 'stop' && finishReason !== 'tool_calls') || media?.length) return false;
    // the arguments are removed with the end of the run
    if (toolCalls.length > 0 && context.run.input.options.forgets?.toolMessages) return false;
    if (toolCalls.length > 0)
      return toolCalls.every(({ name, client }) => {
        const tool = tools.get(name);
        return client === undefined && tool !== undefined && !isGated(tool.gate);
      });
    if (content === '') return false;
    return output === null || !('faults' in (await output.read(content, context.callApplication)));
  }

  keyOf(model: Model, request: ModelRequest): string {
    const { scope = 'user' } = this.caching;
    const { userId } = this.execution.context.run;
    return requestKey(scope === 'all' ? 'all' : `user ${JSON.stringify(userId)}`, model, request);
  }
}
