// An MCP server for the tests, in a process of its own: node mcp-server.mjs stdio|http|sessions [port] [modern] [survivor]
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import {
  createMcpHandler,
  inputRequired,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const [mode = 'stdio', port = '0', ...flags] = process.argv.slice(2);
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const pixel = Buffer.from([137, 80, 78, 71]).toString('base64');
const large = Buffer.alloc(600_000, 'not a picture at all, but long enough: ').toString('base64');
let cancelled = 0;
let hasGrown = false;
let tellAll = () => {};

function makeServer() {
  const server = new McpServer(
    { name: 'test server', version: '1.0.0' },
    { instructions: 'Be kind to the test server.', capabilities: { tools: { listChanged: true } } },
  );
  const readOnly = { annotations: { readOnlyHint: true } };
  server.registerTool(
    'echo',
    { description: 'Says it again', inputSchema: z.object({ text: z.string() }), ...readOnly },
    ({ text: said }) => text(said),
  );
  server.registerTool('who.am.i', { description: 'The process', ...readOnly }, () => text(process.pid));
  server.registerTool(
    'environment',
    { description: 'A variable', inputSchema: z.object({ name: z.string() }), ...readOnly },
    ({ name }) => text(process.env[name] ?? '(none)'),
  );
  server.registerTool(
    'add',
    {
      description: 'Adds',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ content: [], structuredContent: { sum: a + b } }),
  );
  server.registerTool(
    'weigh',
    {
      description: 'Says what it weighed in words too',
      inputSchema: z.object({ grams: z.number() }),
      // the server does not check what is only said about the number
      outputSchema: z.object({ grams: z.number().meta({ maximum: 1000 }) }),
    },
    ({ grams }) => ({ content: [{ type: 'text', text: 'It is heavy.' }], structuredContent: { grams } }),
  );
  const endless = z.string().meta({ pattern: '^(a+)+$' });
  server.registerTool(
    'endless',
    {
      description: 'Has a pattern that takes for ever',
      inputSchema: z.object({ text: endless, count: z.int() }),
      outputSchema: z.object({ text: endless }),
    },
    ({ text: said }) => ({ content: [], structuredContent: { text: said } }),
  );
  server.registerTool('draw', { description: 'Draws' }, () => ({
    content: [
      { type: 'text', text: 'Here:' },
      { type: 'image', data: pixel, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///notes/a.txt', text: 'a note' } },
      { type: 'resource', resource: { uri: 'file:///b.pdf', blob: pixel, mimeType: 'application/pdf' } },
      { type: 'resource_link', uri: 'https://example.com/c', name: 'c' },
    ],
  }));
  server.registerTool('photograph', { description: 'Repeats the bytes as data' }, () => ({
    content: [{ type: 'image', data: large, mimeType: 'image/png' }],
    structuredContent: { width: 640, url: `data:image/png;base64,${large}` },
  }));
  server.registerTool('repeat', { description: 'Repeats the bytes as a text' }, () => ({
    content: [
      { type: 'audio', data: large, mimeType: 'audio/wav' },
      { type: 'text', text: JSON.stringify({ data: large, seconds: 3 }).replaceAll('/', '\\/') },
    ],
  }));
  server.registerTool('fail', { description: 'Fails' }, () => ({ ...text('I cannot.'), isError: true }));
  server.registerTool('die', { description: 'Ends the process' }, () => process.exit(3));
  server.registerTool('die_once', { description: 'Ends the first process', ...readOnly }, () => {
    if (flags.includes('survivor')) return text('alive');
    process.exit(3);
  });
  registerAskingTools(server);
  server.registerTool('cancelled', { description: 'How many', ...readOnly }, () => text(cancelled));
  server.registerTool('hang', { description: 'Never answers' }, async (context) => {
    await context.mcpReq.notify({
      method: 'notifications/progress',
      params: {
        progressToken: context.mcpReq._meta?.progressToken ?? 0,
        progress: 1,
        total: 4,
        message: 'begun',
      },
    });
    await new Promise((resolve) => context.mcpReq.signal.addEventListener('abort', resolve));
    cancelled += 1;
    return text('cancelled');
  });
  server.registerTool('grow', { description: 'Adds a tool' }, () => {
    hasGrown = true;
    addGrown(server);
    tellAll();
    return text('grown');
  });
  if (hasGrown) addGrown(server);
  const later = server.registerTool('later', { description: 'Is a task' }, () => text('later'));
  later.execution = { taskSupport: 'required' };
  return server;
}

const heard = [];

/** Tools that need something from their caller, and return what they got. */
function registerAskingTools(server) {
  const asks = (name, request) =>
    server.registerTool(
      name,
      { description: 'Asks', inputSchema: z.object({ what: z.string() }) },
      ({ what }, context) => {
        const answer = context.mcpReq.inputResponses?.it;
        if (answer === undefined)
          return inputRequired({
            inputRequests: { it: request(what), ...(what === 'twice' && { other: request(what) }) },
          });
        const really = {
          really: inputRequired.elicit({
            message: 'Really?',
            requestedSchema: { type: 'object', properties: {} },
          }),
        };
        if (what === 'insistent' && answer.action === 'cancel')
          return inputRequired({ inputRequests: really });
        heard.push(`${what}: ${answer.action}`);
        return text(JSON.stringify(answer));
      },
    );
  asks('order', (what) =>
    inputRequired.elicit({
      message: `Which ${what}?`,
      requestedSchema: {
        type: 'object',
        properties: {
          size: { type: 'string', title: 'Size', enum: ['S', 'M'] },
          count: { type: 'integer', minimum: 1, maximum: 5, default: 2 },
        },
        required: ['size'],
      },
    }),
  );
  asks('visit', (url) => inputRequired.elicitUrl({ message: 'Sign in.', url }));
  asks('think', (what) => {
    const content = [
      { type: 'text', text: what },
      { type: 'image', data: pixel, mimeType: 'image/png' },
    ];
    return inputRequired.createMessage({
      messages: content.map((part) => ({ role: 'user', content: part })),
      maxTokens: 50,
    });
  });
  asks('look', () => inputRequired.listRoots());
  server.registerTool(
    'heard',
    { description: 'What it was answered', annotations: { readOnlyHint: true } },
    () => text(heard.join(', ')),
  );
}

function addGrown(server) {
  server.registerTool('grown', { description: 'Is new' }, () => text('I am new'));
}

async function toRequest(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const controller = new AbortController();
  response.on('close', () => controller.abort());
  return new Request(`http://127.0.0.1${request.url}`, {
    method: request.method,
    headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    signal: controller.signal,
    ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
  });
}

async function send(answer, response) {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  if (answer.body) for await (const chunk of answer.body) response.write(chunk);
  response.end();
}

function listen(handle) {
  createServer(async (request, response) => {
    if (request.url === '/secret' && request.headers.authorization !== 'Bearer secret') {
      response.writeHead(401).end();
      return;
    }
    await send(await handle(await toRequest(request, response)), response).catch(() => response.destroy());
  }).listen(Number(port), '127.0.0.1', function () {
    console.log(`listening on ${this.address().port}`);
  });
}

/** Sessions as servers of the older protocol keep them. */
function sessionHandler() {
  const transports = new Map();
  return async (request) => {
    const id = request.headers.get('mcp-session-id');
    const known = transports.get(id);
    if (known) return known.handleRequest(request);
    if (id)
      return Response.json(
        { jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null },
        { status: 404 },
      );
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void transports.set(session, transport),
    });
    await makeServer().connect(transport);
    return transport.handleRequest(request);
  };
}

if (mode === 'stdio') serveStdio(makeServer, flags.includes('modern') ? { legacy: 'reject' } : {});
else if (mode === 'http') {
  const handler = createMcpHandler(makeServer);
  tellAll = () => handler.notify.toolsChanged();
  listen(handler.fetch);
} else listen(sessionHandler());
