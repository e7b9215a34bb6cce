import { auxiliaryRecord, modelRecord, toolRecord } from '../agents/journal-records.js';
import { isJsonObject, type JsonObject } from '../json.js';
import type { ToolCall, Usage } from '../models/message.js';
import type { RunContext } from '../runs/context.js';
import type { RemoteRest } from './journal-records.js';
import { nothingUsed, textIn, usedSince } from './remote-body.js';
import type { RemoteComponent } from './remote-component.js';
import { askHere } from './remote-questions.js';
import { callIn } from './remote-requirements.js';
import type { RemoteAnswers } from './remote-service.js';

/** A tool call of the remote run, and the place that it has in the local conversation. */
interface PlacedCall {
  readonly key: string;
  call: JsonObject;
}

/**
 * Writes what a remote run did into the local journal, in the steps of an agent: a model that asked for the calls, the
 * calls with their results, the questions about them, and the answer. So messages, metrics, history, pauses and traces
 * are the same views of the journal as those of a local run.
 */
export class RemoteTranscript {
  private readonly calls = new Map<string, PlacedCall>();
  private readonly answers = new Set<string>();
  private turn = 0;
  private used: Usage | undefined;

  constructor(
    private readonly component: RemoteComponent,
    private readonly context: RunContext,
  ) {}

  /** Records a leg that has come to rest. */
  async add(rest: RemoteRest, leg: number): Promise<void> {
    const usage = usedSince(rest.usage, this.used);
    this.used = rest.usage;
    const asks = rest.status === 'paused';
    await this.addCalls(rest, asks ? usage : nothingUsed);
    if (asks) return;
    if (rest.status === 'completed') await this.say(rest, usage);
    else await this.spend(rest, usage, leg);
  }

  /** Asks here what the remote run waits for there; returns with the answers when all are given. */
  async ask(rest: RemoteRest, leg: number): Promise<RemoteAnswers> {
    const asked = rest.requirements.flatMap((requirement) => {
      const placed = this.calls.get(String(callIn(requirement).tool_call_id));
      return placed === undefined ? [] : [{ requirement, toolKey: placed.key }];
    });
    const { address } = this.component.remote.service;
    return answersOf(rest, await askHere(this.context, address, asked, leg, this.answers));
  }

  private async addCalls(rest: RemoteRest, usage: Usage): Promise<void> {
    const all = [...rest.tools, ...rest.requirements.map(callIn)];
    const fresh: JsonObject[] = [];
    for (const call of all) {
      const id = textIn(call.tool_call_id);
      if (id === undefined) continue;
      const known = this.calls.get(id);
      if (known !== undefined) {
        // the list of tools comes first and has the result
        if (!hasResult(known.call)) known.call = call;
        continue;
      }
      this.calls.set(id, { key: `tool:${this.turn}:${fresh.length}`, call });
      fresh.push(call);
    }
    if (fresh.length > 0) await this.model({ content: '', usage, toolCalls: fresh.map(requested) }, rest);
    else if (usage.totalTokens > 0) await this.spend(rest, usage, this.turn);
    for (const { key, call } of this.calls.values()) if (hasResult(call)) await this.result(key, call);
  }

  private result(key: string, call: JsonObject): Promise<unknown> {
    const spec = { kind: 'tool', name: String(call.tool_name ?? ''), record: toolRecord } as const;
    return this.context.step(key, spec, async () => ({
      callId: String(call.tool_call_id),
      content: typeof call.result === 'string' ? call.result : JSON.stringify(call.result ?? ''),
      error: call.tool_call_error === true,
      args: isJsonObject(call.tool_args) ? call.tool_args : null,
      listed: true,
    }));
  }

  private async say(rest: RemoteRest, usage: Usage): Promise<void> {
    const { content, reasoning, media } = rest;
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await this.model(
      {
        content: text,
        usage,
        ...(reasoning !== undefined && { reasoning }),
        ...(media !== undefined && { media }),
      },
      rest,
    );
  }

  private async model(
    record: { content: string; usage: Usage; toolCalls?: ToolCall[] },
    { model }: RemoteRest,
  ): Promise<void> {
    const { context, component } = this;
    const spec = { kind: 'model', name: component.remote.id, record: modelRecord } as const;
    await context.step(`model:${this.turn}`, spec, async () => ({
      ...record,
      finishReason: record.toolCalls === undefined ? 'stop' : 'tool_calls',
      timeToFirstToken: 0,
      ...(model !== undefined && { model }),
    }));
    this.turn += 1;
  }

  /** What was used for no answer is counted all the same. */
  private async spend({ model }: RemoteRest, usage: Usage, leg: number): Promise<void> {
    if (usage.totalTokens === 0) return;
    const { context, component } = this;
    const spec = { kind: 'auxiliary', name: 'remote', record: auxiliaryRecord } as const;
    await context.step(`remote:${leg}:usage`, spec, async () => ({
      content: '',
      usage,
      finishReason: 'other',
      timeToFirstToken: 0,
      role: 'model',
      model: model ?? { id: component.remote.id, provider: 'remote' },
    }));
  }
}

/** The whole lists of the paused run: a service may take what it gets for all that there is. */
function answersOf(rest: RemoteRest, filled: ReadonlyMap<JsonObject, JsonObject>): RemoteAnswers {
  const calls = new Map(Array.from(filled.values(), (one) => [callIn(one).tool_call_id, callIn(one)]));
  const listed = new Set(rest.tools.map(({ tool_call_id: id }) => id));
  const unlisted = [...calls.values()].filter(({ tool_call_id: id }) => id !== undefined && !listed.has(id));
  return {
    given: filled.size > 0,
    requirements: rest.requirements.map((one) => filled.get(one) ?? one),
    tools: [...rest.tools.map((call) => calls.get(call.tool_call_id) ?? call), ...unlisted],
  };
}

function hasResult({ result, tool_call_error: error }: JsonObject): boolean {
  return (result !== null && result !== undefined) || error === true;
}

function requested(call: JsonObject): ToolCall {
  return {
    id: String(call.tool_call_id),
    name: String(call.tool_name ?? ''),
    arguments: JSON.stringify(call.tool_args ?? {}),
  };
}
