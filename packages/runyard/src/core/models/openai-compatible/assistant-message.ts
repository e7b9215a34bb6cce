import type { Json, JsonObject } from '../../json.js';
import type { Message, ToolCall } from '../message.js';
import { type PieceOwner, piecesOf } from '../provider/answer/answer-pieces.js';
import { argumentsText } from '../provider/answer/tool-arguments.js';
import { textFieldOf } from './growing-reasoning.js';

/** An earlier answer, with what its provider wants to see again beside the text and the calls. */
export function assistantMessage(message: Message, owner: PieceOwner | undefined): JsonObject {
  const thinking: Json[] = [];
  const details: Json[] = [];
  const calls: Json[] = [];
  for (const piece of piecesOf(message, owner)) {
    if (piece.type === 'call') calls.push(wireToolCall(piece.call, piece.data));
    else if (piece.type === 'block') details.push(piece.block);
    else if (piece.data?.type === 'thinking') {
      thinking.push({ ...piece.data, thinking: [{ type: 'text', text: piece.text }] });
    } else if (piece.data) details.push({ ...piece.data, [textFieldOf(piece.data)]: piece.text });
  }
  const { content } = message;
  const text: Json = content === '' && calls.length > 0 ? null : content;
  return {
    role: 'assistant',
    content:
      thinking.length === 0 ? text : [...thinking, ...(content === '' ? [] : [{ type: 'text', text }])],
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}

function wireToolCall(call: ToolCall, data: JsonObject | undefined): JsonObject {
  return {
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: argumentsText(call.arguments) },
    ...data,
  };
}
