import { toolRecord } from '../../core/agents/journal-records.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import { fieldsOf } from '../../core/objects.js';
import { readIf } from '../../core/runs/journal/codec.js';
import type { StepRecord } from '../../core/runs/run.js';
import { callQuestion } from '../common/answers/question.js';
import type { Chunk } from './chunk.js';

/** A tool call in the words of the wire. */
interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly result: unknown;
  readonly failed: boolean;
}

export function callOf(given: unknown): Call {
  const tool = fieldsOf(given);
  return {
    id: String(tool.tool_call_id),
    name: String(tool.tool_name),
    input: isJsonObject(tool.tool_args) ? tool.tool_args : {},
    result: tool.result,
    failed: tool.tool_call_error === true,
  };
}

/** The tool calls of a message: which of them the client was shown, and which wait for an outcome. */
export class Calls {
  private readonly shown: Set<string>;
  private readonly waiting = new Map<string, 'confirmation' | 'other'>();
  private readonly approvals = new Set<string>();

  constructor(known: Iterable<string>) {
    this.shown = new Set(known);
    for (const id of this.shown) this.waiting.set(id, 'confirmation');
  }

  /** The service executes it: the page has nothing to do with it. */
  started(call: Call): Chunk[] {
    return this.input(call, true);
  }

  /** What the tool has yielded so far. The page shows it until the result takes its place; undefined for another event. */
  progressed({ tool_call_id: id, partial_result: output }: JsonObject): Chunk[] | undefined {
    if (output === undefined || typeof id !== 'string' || !this.shown.has(id)) return undefined;
    return [{ type: 'tool-output-available', toolCallId: id, output, preliminary: true }];
  }

  completed(call: Call): Chunk[] {
    const before = this.input(call, true);
    this.waiting.delete(call.id);
    return [...before, outcome(call.id, call.failed, contentOf(call.result), false)];
  }

  /** The run waits for a call, or for a word about it. */
  asked(requirement: JsonObject): Chunk[] {
    if (!isJsonObject(requirement.tool_execution)) return [];
    const call = callOf(requirement.tool_execution);
    const { asked, needsApproval, message } = callQuestion(structuredClone(requirement));
    const isConfirmation = asked.kind === 'confirmation' && !needsApproval;
    const chunks = this.input(call, false);
    this.waiting.set(call.id, asked.kind === 'confirmation' ? 'confirmation' : 'other');
    if (!isConfirmation || this.approvals.has(call.id)) return chunks;
    this.approvals.add(call.id);
    const hasReason = typeof requirement.message === 'string' && requirement.message !== '';
    return [
      ...chunks,
      {
        type: 'tool-approval-request',
        approvalId: call.id,
        toolCallId: call.id,
        ...(hasReason && { reason: message }),
      },
    ];
  }

  get hasWaiting(): boolean {
    return this.waiting.size > 0;
  }

  /** What became of calls that have no event because their answer is their result. */
  settled(steps: readonly StepRecord[]): Chunk[] {
    const chunks: Chunk[] = [];
    for (const step of steps) {
      if (step.kind !== 'tool' || step.status !== 'completed') continue;
      const record = readIf(step, toolRecord);
      const kind = record && this.waiting.get(record.callId);
      if (record === undefined || kind === undefined) continue;
      this.waiting.delete(record.callId);
      const isDenied = kind === 'confirmation' && record.error && record.answered === true;
      chunks.push(outcome(record.callId, record.error, record.content, isDenied));
    }
    return chunks;
  }

  private input({ id, name, input }: Call, executedHere: boolean): Chunk[] {
    if (this.shown.has(id)) return [];
    this.shown.add(id);
    return [
      {
        type: 'tool-input-available',
        toolCallId: id,
        toolName: name,
        input,
        ...(executedHere && { providerExecuted: true }),
      },
    ];
  }
}

function outcome(toolCallId: string, failed: boolean, result: string, isDenied: boolean): Chunk {
  if (isDenied) return { type: 'tool-output-denied', toolCallId };
  if (failed) return { type: 'tool-output-error', toolCallId, errorText: result };
  return { type: 'tool-output-available', toolCallId, output: outputOf(result) };
}

/** Results of tools are texts; one that is JSON is what the tool returned. */
export function outputOf(result: string): Json {
  if (!/^\s*[[{]/.test(result)) return result;
  try {
    // of JSON text, a value of JSON
    return JSON.parse(result) as Json;
  } catch {
    return result;
  }
}

function contentOf(result: unknown): string {
  return typeof result === 'string' ? result : JSON.stringify(result ?? null);
}
