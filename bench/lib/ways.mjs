import { randomUUID } from 'node:crypto';
import { peerWays } from '../peers/ways.mjs';
import { question } from './answer.mjs';

/**
 * The ways into a server, as the callers use them: the request for a run, what its answer must hold, and the first sign
 * of content in a stream. `session` is what a caller opened before.
 */
export const ways = {
  ...peerWays,
  rest: {
    request: ({ agentId, stream, sessionId }) => ({
      path: `/agents/${agentId}/runs`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: formOf({
        message: question,
        stream,
        ...(sessionId !== undefined && { session_id: sessionId }),
      }),
    }),
    marks: (stream) =>
      stream ? ['event: RunCompleted', '"content":"token50 "'] : ['"status":"completed"', 'token50 '],
    firstMark: '"content":"token1 ',
  },
  mcp: {
    open: openMcpSession,
    request: ({ agentId }, session) => ({
      path: '/mcp',
      headers: { ...mcpHeaders, 'mcp-session-id': session },
      body: rpc('tools/call', { name: 'run_agent', arguments: { agent_id: agentId, message: question } }),
    }),
    marks: () => ['"status":"completed"', 'token50 '],
  },
  a2a: {
    request: ({ agentId, stream }) => ({
      path: `/a2a/agents/${agentId}`,
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: rpc(stream ? 'SendStreamingMessage' : 'SendMessage', {
        message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: question }] },
      }),
    }),
    marks: () => ['TASK_STATE_COMPLETED', 'token50 '],
    firstMark: 'token1 ',
  },
  chat: {
    request: ({ agentId, stream }) =>
      jsonRequest('/v1/chat/completions', {
        model: agentId,
        messages: [{ role: 'user', content: question }],
        stream,
      }),
    marks: (stream) => ['"finish_reason":"stop"', 'token50 ', ...(stream ? ['data: [DONE]'] : [])],
    firstMark: 'token1 ',
  },
  responses: {
    request: ({ agentId, stream }) =>
      jsonRequest('/v1/responses', { model: agentId, input: question, stream }),
    marks: (stream) => ['"status":"completed"', 'token50 ', ...(stream ? ['response.completed'] : [])],
    firstMark: 'token1 ',
  },
  agui: {
    request: ({ agentId }) =>
      jsonRequest(`/agui/agents/${agentId}`, {
        protocolVersion: '1.0',
        threadId: randomUUID(),
        runId: randomUUID(),
        messages: [{ id: randomUUID(), role: 'user', content: question }],
        tools: [],
        context: [],
        state: {},
        forwardedProps: {},
      }),
    marks: () => ['RUN_FINISHED', 'token50 '],
    firstMark: 'token1 ',
  },
  aiSdk: {
    request: ({ agentId }) =>
      jsonRequest(`/api/chat/agents/${agentId}`, {
        id: randomUUID(),
        messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: question }] }],
        trigger: 'submit-message',
      }),
    marks: () => ['"type":"finish"', 'token50 '],
    firstMark: 'token1 ',
  },
};

function jsonRequest(path, body) {
  return { path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

let lastId = 0;

const mcpHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
};

function formOf(fields) {
  return new URLSearchParams(fields).toString();
}

function rpc(method, params) {
  lastId += 1;
  return JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params });
}

/** The handshake of a client. Returns the id of its session. */
async function openMcpSession(port) {
  const client = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  };
  const post = (body, headers = {}) =>
    fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', headers: { ...mcpHeaders, ...headers }, body });
  const opened = await post(rpc('initialize', client));
  const text = await opened.text();
  const session = opened.headers.get('mcp-session-id');
  if (session === null) throw new Error(`no MCP session, but ${opened.status}: ${text}`);
  const notice = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await (await post(notice, { 'mcp-session-id': session })).text();
  return session;
}
