import type { JsonObject } from '../../../core/json.js';
import type { Run } from '../../../core/runs/run.js';

/** What a run was started with, as the items that its client sent. */
export function inputItemsOf({ runId, input }: Run): JsonObject[] {
  const { conversation } = input.options.callerInput ?? {};
  const earlier = (conversation?.messages ?? []).flatMap((message, at): JsonObject[] => {
    const id = `${runId}_c${at}`;
    if (message.role === 'tool') {
      const { toolCallId, content } = message;
      const output = { call_id: toolCallId, output: content, status: 'completed' };
      return [{ id: `fco_${id}`, type: 'function_call_output', ...output }];
    }
    if (message.role === 'user') return [messageItem(`msg_${id}`, 'user', 'input_text', message.content)];
    const calls = (message.toolCalls ?? []).map((call, position) => ({
      id: `fc_${id}_${position}`,
      type: 'function_call',
      call_id: call.id,
      name: call.name,
      arguments: call.arguments,
      status: 'completed',
    }));
    const said = messageItem(`msg_${id}`, 'assistant', 'output_text', message.content);
    return message.content === '' ? calls : [said, ...calls];
  });
  return [...earlier, ownInput(input, runId)];
}

/** The message of the user alone. */
export function ownInput({ content, media }: Run['input'], runId: string): JsonObject {
  const item = messageItem(`msg_${runId}_user`, 'user', 'input_text', content);
  const files = media.map(({ kind, url, filename }): JsonObject => {
    return kind === 'image'
      ? { type: 'input_image', image_url: url ?? null, detail: 'auto', file_id: null }
      : { type: 'input_file', file_url: url ?? null, filename: filename ?? null, file_id: null };
  });
  return { ...item, content: [{ type: 'input_text', text: content }, ...files] };
}

function messageItem(id: string, role: string, type: string, text: string): JsonObject {
  const part: JsonObject = type === 'output_text' ? { type, text, annotations: [] } : { type, text };
  return { id, type: 'message', role, status: 'completed', content: [part] };
}
