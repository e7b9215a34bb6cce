import type { JsonObject } from '../../core/json.js';
import type { Run } from '../../core/runs/run.js';
import { base64Of } from '../common/shown-media.js';
import type { AguiCall } from './call.js';
import { isModern } from './run-input.js';

/**
 * The files that a run made, as an activity with parts in the form of the protocol: messages of the assistant are texts.
 * Undefined if it made none, or if the client may not know activities.
 */
export async function madeMedia(
  { services, input }: AguiCall,
  run: Run,
): Promise<{ readonly id: string; readonly activityType: string; readonly content: JsonObject } | undefined> {
  const parts: JsonObject[] = [];
  for (const media of isModern(input) ? (run.result?.media ?? []) : []) {
    const { kind, url, mimeType = 'application/octet-stream', filename } = media;
    const shown = url === undefined ? await services.runs.showMedia(run, media) : undefined;
    const data = shown === undefined ? undefined : base64Of(media, shown);
    if (url === undefined && data === undefined) continue;
    parts.push({
      type: kind === 'file' ? 'document' : kind,
      source: { type: url === undefined ? 'data' : 'url', value: url ?? data ?? '', mimeType },
      ...(filename !== undefined && { metadata: { filename } }),
    });
  }
  if (parts.length === 0) return undefined;
  return { id: `${run.runId}-media`, activityType: 'runyard.media', content: { parts } };
}
