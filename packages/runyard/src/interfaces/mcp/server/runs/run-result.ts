import type { CallToolResult } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '../../../../core/json.js';
import { statusIn } from '../../../../platform/http/response/wire-format.js';
import { openRequirements, PausedRun } from '../../../common/answers/paused-run.js';
import { type ToolRequest, textBlock } from '../mcp-tool.js';
import { failedCall } from '../tool-errors.js';
import type { RunView } from './wait-for-run.js';

type Block = CallToolResult['content'][number];

/** A run as the result of the tool that asked for it: one that failed or was cancelled is a failure of the call. */
export async function runResult(request: ToolRequest, view: RunView): Promise<CallToolResult> {
  const { status, runId, result } = view.run;
  const body = await request.site.services.runs.body(view, request.format);
  const structuredContent = shown(request, view, body);
  if (status === 'error') {
    const reason = result?.error?.message ?? (textOf(body.content) || 'The run failed.');
    return { ...failedCall(request.toolName, reason), structuredContent };
  }
  if (status === 'cancelled') {
    const failed = failedCall(request.toolName, `Run ${runId} was cancelled`);
    return { ...failed, content: [...failed.content, ...partial(body.content)], structuredContent };
  }
  return { content: contentOf(view, body), structuredContent, isError: false };
}

/** A run as it is now. That it failed does not mean that the call did. */
export async function presentRun(request: ToolRequest, view: RunView): Promise<CallToolResult> {
  const body = await request.site.services.runs.body(view, request.format);
  const failure = view.run.result?.error?.message;
  const content = failure === undefined ? contentOf(view, body) : [textBlock(failure)];
  return { content, structuredContent: shown(request, view, body), isError: false };
}

/** The ids and the status, and what a paused run waits for; or the whole run, where the settings say so. */
function shown(
  { site, format }: ToolRequest,
  { run }: RunView,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (site.config.resultMode === 'full') return { ...body };
  return {
    run_id: run.runId,
    session_id: run.sessionId,
    status: statusIn(format, run.status),
    ...(run.status === 'paused' && { requirements: openRequirements(body) }),
  };
}

function contentOf({ run }: RunView, body: Readonly<Record<string, unknown>>): Block[] {
  return [
    textBlock(said(run, body)),
    ...mediaBlocks('image', body.images),
    ...mediaBlocks('audio', body.audio),
  ];
}

/** The content of a paused workflow is the output of its last step: what it asks is in its questions. */
function said(run: RunView['run'], body: Readonly<Record<string, unknown>>): string {
  const { kind, status, runId } = run;
  const content = textOf(body.content);
  if (status === 'paused' && (kind === 'workflow' || content === '')) return pausedText(kind, body);
  if (content !== '') return content;
  return status === 'pending' || status === 'running' ? `Run ${runId} is ${status}` : '';
}

function pausedText(kind: RunView['run']['kind'], body: Readonly<Record<string, unknown>>): string {
  const questions = new PausedRun(kind, body).questions.map(({ message }) => message);
  if (questions.length === 0) return 'The run waits for an event or for a time.';
  return [...questions, 'The run waits for an answer. Continue it with continue_run.'].join('\n');
}

function textOf(content: unknown): string {
  if (content === undefined || content === null) return '';
  return typeof content === 'string' ? content : JSON.stringify(content);
}

function partial(content: unknown): Block[] {
  const text = textOf(content);
  return text === '' ? [] : [textBlock(text)];
}

const defaultTypes = { image: 'image/png', audio: 'audio/wav' } as const;

/** Those that have bytes: a client does not fetch the others. */
function mediaBlocks(type: 'image' | 'audio', media: unknown): Block[] {
  const items: unknown[] = Array.isArray(media) ? media : [];
  return items.filter(hasBytes).map(({ content, mime_type: mimeType }) => ({
    type,
    data: content,
    mimeType: typeof mimeType === 'string' ? mimeType : defaultTypes[type],
  }));
}

function hasBytes(item: unknown): item is JsonObject & { content: string } {
  return isJsonObject(item) && typeof item.content === 'string';
}
