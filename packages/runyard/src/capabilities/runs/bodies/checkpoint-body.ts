import type { Checkpoint } from '../../../core/agents/continuation/checkpoints.js';
import type { Run } from '../../../core/runs/run.js';
import { statusIn, type WireFormat } from '../../../platform/http/response/wire-format.js';

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
    status: statusIn(format, status),
    reason,
    created_at: message?.createdAt ?? Math.floor(run.createdAt / 1000),
    message_id: message?.id ?? null,
    message_role: message?.role ?? null,
    message_preview: message === undefined ? null : previewOf(message.content),
    is_latest: latest,
  };
}

function previewOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = [...line.slice(0, 2 * previewLength)];
  return characters.length <= previewLength ? line : `${characters.slice(0, previewLength - 1).join('')}…`;
}
