import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { instructions } from './lib/answer.mjs';
import { modelCalls } from './lib/bare-model.mjs';
import { openBareStore } from './lib/bare-store.mjs';
import { serveCommands } from './lib/commands.mjs';

/**
 * The limit: what a run costs at least on this machine. It reads the same form, asks the same model in the cheapest
 * way that Node has, stores one row in one transaction and answers as much as Runyard does, with nothing in between. A run that
 * is held or relayed can be cancelled: that ends it, stores its row and answers. `via`: another way to the model.
 */
const { modelPort, via = 'dispatcher', store: storeSettings } = JSON.parse(process.argv[2]);
const post = modelCalls[via];
const store = await openBareStore(storeSettings);
/** Streams that are open, by run: how to end each. */
const open = new Map();

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    answerTo(request, form, response).catch((error) => {
      response.writeHead(500).end(error.message);
    });
  });
});

/** `/agents/<agent>/runs`, `…/runs/<run>` and `…/runs/<run>/events` or `…/cancel`. */
function answerTo(request, form, response) {
  const [, , agentId, , runId, action] = request.url.split('?')[0].split('/');
  if (runId === undefined) return create(agentId, form, response);
  if (action === 'cancel') return cancel(runId, response);
  return show(runId, action === 'events' ? 'text/event-stream' : 'application/json', response);
}

async function create(agentId, form, response) {
  const run = {
    run_id: form.get('run_id') ?? randomUUID(),
    agent_id: agentId,
    session_id: form.get('session_id') ?? randomUUID(),
  };
  if (form.get('background') === 'true') await accept(run, form.get('message'), response);
  else if (agentId === 'waiting') hold(run, response);
  else if (form.get('stream') === 'true') await relay(run, form.get('message'), response);
  else await answerWhole(run, form.get('message'), response);
}

/** Stored, and nothing more: another process would have to execute it. */
async function accept(run, message, response) {
  await store.insert(run.run_id, run.session_id, JSON.stringify(runBody(run, message, '', undefined)));
  response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify(run));
}

async function cancel(runId, response) {
  const { run, end } = open.get(runId);
  open.delete(runId);
  end();
  const body = { ...runBody(run, '', '', undefined), status: 'cancelled' };
  await store.insert(runId, run.session_id, JSON.stringify(body));
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
}

async function show(runId, type, response) {
  const body = await store.read(runId);
  response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
}

async function answerWhole(run, message, response) {
  const parts = [];
  await callModel(run.agent_id, message, { take: (bytes) => parts.push(bytes) });
  const answer = JSON.parse(parts.length === 1 ? parts[0] : Buffer.concat(parts));
  const body = JSON.stringify(runBody(run, message, answer.choices[0].message.content, answer.usage));
  await store.insert(run.run_id, run.session_id, body);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

async function relay(run, message, response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const opened = { run, ended: false, abort: () => {}, end: () => {} };
  opened.end = () => {
    opened.ended = true;
    opened.abort();
    response.end();
  };
  open.set(run.run_id, opened);
  try {
    await relayTokens(run, message, opened, response);
  } catch (error) {
    if (!opened.ended) throw error;
  } finally {
    open.delete(run.run_id);
  }
}

async function relayTokens(run, message, opened, response) {
  const decoder = new StringDecoder();
  let rest = '';
  let content = '';
  let usage;
  let index = 0;
  const take = (bytes) => {
    const lines = (rest + decoder.write(bytes)).split('\n');
    rest = lines.pop();
    let events = '';
    for (const line of lines) {
      if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
      const chunk = JSON.parse(line.slice(6));
      usage = chunk.usage ?? usage;
      const token = chunk.choices[0]?.delta.content;
      if (token === undefined) continue;
      content += token;
      events += contentEvent(run, index, token);
      index += 1;
    }
    if (events !== '') response.write(events);
  };
  const onAbort = (abort) => {
    opened.abort = abort;
  };
  await callModel(run.agent_id, message, { stream: true, take, onAbort });
  const body = JSON.stringify(runBody(run, message, content, usage));
  await store.insert(run.run_id, run.session_id, body);
  response.end(`id: ${index}\nevent: RunCompleted\ndata: ${body}\n\n`);
}

function hold(run, response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(contentEvent(run, 0, ''));
  open.set(run.run_id, { run, end: () => response.end() });
}

function callModel(agentId, message, { stream = false, ...handlers }) {
  const messages = [
    { role: 'system', content: instructions },
    { role: 'user', content: message },
  ];
  return post({
    port: modelPort,
    path: `/${agentId}/v1/chat/completions`,
    body: JSON.stringify({ model: 'bench', messages, stream }),
    ...handlers,
  });
}

function contentEvent(run, index, content) {
  const event = {
    created_at: Math.floor(Date.now() / 1000),
    event: 'RunContent',
    agent_name: 'Bare',
    ...run,
  };
  const data = JSON.stringify({
    ...event,
    nested_depth: 0,
    content,
    content_type: 'str',
    event_index: index,
  });
  return `id: ${index}\nevent: RunContent\ndata: ${data}\n\n`;
}

function runBody(run, message, content, usage) {
  const now = new Date().toISOString();
  const messages = [
    { id: `${run.run_id}:system`, role: 'system', content: instructions, created_at: now },
    { id: `${run.run_id}:user`, role: 'user', content: message, created_at: now },
    { id: `${run.run_id}:model`, role: 'assistant', content, created_at: now, metrics: usage },
  ];
  const input = { input_content: message };
  return { ...run, status: 'completed', content, created_at: now, metrics: usage, messages, input };
}

function release() {
  for (const { end } of open.values()) end();
  open.clear();
}

/** Stores bytes that `/agents/<any>/runs/<id>/events` answers. */
async function keep({ id, text }) {
  await store.insert(id, '', text);
}

server.listen(0, '127.0.0.1', () => serveCommands({ port: () => server.address().port, release, keep }));
