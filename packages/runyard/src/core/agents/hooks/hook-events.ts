import type { AgentEvents } from '../../events/agent-event.js';
import type { JsonObject } from '../../json.js';
import type { Media } from '../../media/media.js';
import type { HookInput } from './hook.js';

export function preHookFields(name: string, input: HookInput): AgentEvents['PreHookStarted'] {
  return { pre_hook_name: name, run_input: runInputBody(input) };
}

const mediaNames = { image: 'images', video: 'videos', audio: 'audios', file: 'files' } as const;

/** Media are described; their bytes stand once in the run. */
function runInputBody({ content, media }: HookInput) {
  const described: { [name in (typeof mediaNames)[keyof typeof mediaNames]]?: JsonObject[] } = {};
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
