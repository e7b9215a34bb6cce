import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
} from '@modelcontextprotocol/server';

/** Reads the whole message. Of a message that passed, its fields alone say which kind it is. */
export function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== 'object' || value === null) return false;
  if (!('method' in value)) return isJSONRPCResponse(value);
  return 'id' in value ? isJSONRPCRequest(value) : isJSONRPCNotification(value);
}

export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message;
}

export function isAnswer(message: JSONRPCMessage): message is JSONRPCResponse {
  return !('method' in message);
}

export function isIncidental(message: JSONRPCMessage): message is JSONRPCResponse | JSONRPCNotification {
  return !isRequest(message);
}
