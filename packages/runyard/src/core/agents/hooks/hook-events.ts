import type { JsonObject } from '../../json.js';
import type { Media } from '../../media/media.js';
import type { RunEvent } from '../../runs/events/logged-event.js';
import type { HookInput } from './hook.js';

export function preHookStarted(name: string, input: HookInput): RunEvent {
  return { name: 'PreHookStarted', payload: { pre_hook_name: name, run_input: runInputBody(input) } };
}

export function preHookCompleted(name: string, input: HookInput): RunEvent {
  return { name: 'PreHookCompleted', payload: { pre_hook_name: name, run_input: runInputBody(input) } };
}

export function postHookStarted(name: string): RunEvent {
  return { name: 'PostHookStarted', payload: { post_hook_name: name } };
}

export function postHookCompleted(name: string): RunEvent {
  return { name: 'PostHookCompleted', payload: { post_hook_name: name } };
}

const mediaNames = { image: 'images', video: 'videos', audio: 'audios', file: 'files' } as const;

/** Media are described; their bytes stand once in the run. */
function runInputBody({ content, media }: HookInput): JsonObject {
  const described: Record<string, JsonObject[]> = {};
  for (const item of media) {
    const name = mediaNames[item.kind];
    described[name] ??= [];
    described[name].push(mediaBody(item));
  }
  return { input_content: content, ...described };
}

function mediaBody({ id, url, mimeType, format, filename, size }: Media): JsonObject {
  return {
    id,
    ...(url !== undefined && { url }),
    ...(mimeType !== undefined && { mime_type: mimeType }),
    ...(format !== undefined && { format }),
    ...(filename !== undefined && { filename }),
    ...(size !== undefined && { size }),
  };
}
