import type { Run } from '../../core/runs/run.js';
import type { Checkpoint } from './checkpoints.js';
import type { WireFormat } from './run-body.js';

type Body = Record<string, unknown>;

const previewLength = 120;

/** A checkpoint of the wire: every key is there, with nulls. */
export function checkpointBodyOf(run: Run, checkpoint: Checkpoint, format: WireFormat): Body {
  const { position, messageIndex, status, reason, message, latest } = checkpoint;
  return {
    checkpoint_id: position === null ? null : String(position),
    run_id: run.runId,
    session_id: run.sessionId,
    message_index: messageIndex,
    continue_from: messageIndex,
    status: format === 'agentos' ? status.toUpperCase() : status,
    reason,
    created_at: message?.createdAt ?? Math.floor(run.createdAt / 1000),
    message_id: message?.id ?? null,
    message_role: message?.role ?? null,
    message_preview: message === undefined ? null : previewOf(message.content),
    is_latest: latest,
  };
}

/** The body of a run as it was after so many messages. */
export function snapshotOf(body: Body, messageIndex: number): Body {
  const {
    messages = [],
    tools,
    requirements,
    ...rest
  } = body as Body & {
    messages?: readonly Body[];
    tools?: readonly Body[];
    requirements?: readonly Body[];
  };
  const kept = messages.slice(0, messageIndex);
  const calls = new Set(
    kept.flatMap(({ tool_calls: asked }) => ((asked ?? []) as readonly { id: string }[]).map(({ id }) => id)),
  );
  const known = (tool: Body | undefined) => calls.has(String(tool?.tool_call_id));
  return {
    ...rest,
    messages: kept,
    tools: tools?.filter(known),
    requirements: requirements?.filter(({ tool_execution: tool }) => known(tool as Body | undefined)),
  };
}

function previewOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = [...line.slice(0, 2 * previewLength)];
  return characters.length <= previewLength ? line : `${characters.slice(0, previewLength - 1).join('')}…`;
}
