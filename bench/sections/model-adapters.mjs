import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { serveCommands } from '../lib/commands.mjs';
import { startProcess } from '../lib/processes.mjs';
import { median } from '../lib/statistics.mjs';
import { table } from '../lib/table.mjs';

/**
 * CPU time of one streamed token through each native adapter and through the AI SDK bridge, against a bare relay
 * that reads the same stream with as little as possible. This file is also the two processes that it starts: a
 * model server, and a client whose CPU time is measured.
 */
const tokensPerStream = 500;
const tokens = Array.from({ length: tokensPerStream }, (_, position) => `token${position} `);
const answer = tokens.join('');

const line = (data) => `data: ${JSON.stringify(data)}\n\n`;
const named = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** The same answer in each wire format, and how a bare reader finds the text in a chunk. */
const formats = {
  chat: {
    frames: () => {
      const chunk = (delta, reason = null) =>
        line({
          id: 'chatcmpl-1',
          object: 'chat.completion.chunk',
          created: 1_700_000_000,
          model: 'bench',
          choices: [{ index: 0, delta, finish_reason: reason }],
        });
      return [...tokens.map((content) => chunk({ content })), chunk({}, 'stop'), 'data: [DONE]\n\n'];
    },
    textIn: (chunk) => chunk.choices[0]?.delta.content,
  },
  anthropic: {
    frames: () => [
      named({
        type: 'message_start',
        message: { id: 'msg_1', content: [], usage: { input_tokens: 10, output_tokens: 1 } },
      }),
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...tokens.map((text) =>
        named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
      ),
      named({ type: 'content_block_stop', index: 0 }),
      named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 500 } }),
      named({ type: 'message_stop' }),
    ],
    textIn: (chunk) => chunk.delta?.text,
  },
  gemini: {
    frames: () =>
      tokens.map((text, position) =>
        line({
          candidates: [
            {
              content: { parts: [{ text }], role: 'model' },
              index: 0,
              ...(position === tokens.length - 1 && { finishReason: 'STOP' }),
            },
          ],
          usageMetadata: {
            promptTokenCount: 10,
            candidatesTokenCount: position,
            totalTokenCount: 10 + position,
          },
          modelVersion: 'bench',
          responseId: 'response-1',
        }),
      ),
    textIn: (chunk) => chunk.candidates[0].content.parts[0].text,
  },
  responses: {
    frames: () => [
      ...tokens.map((delta, position) =>
        named({
          type: 'response.output_text.delta',
          sequence_number: position,
          item_id: 'msg_1',
          output_index: 0,
          content_index: 0,
          delta,
          logprobs: [],
          obfuscation: 'aZ3kQ9',
        }),
      ),
      named({
        type: 'response.completed',
        response: { id: 'resp_1', object: 'response', status: 'completed', output: [] },
      }),
    ],
    textIn: (chunk) => chunk.delta,
  },
};

/** Who reads which format. */
const readers = [
  { name: 'OpenAI-compatible', reader: 'openAICompatible', format: 'chat' },
  { name: 'OpenAI Responses', reader: 'openAIResponses', format: 'responses' },
  { name: 'Anthropic', reader: 'anthropic', format: 'anthropic' },
  { name: 'Gemini', reader: 'gemini', format: 'gemini' },
  { name: 'AI SDK provider alone', reader: 'aiSdkProvider', format: 'chat' },
  { name: 'AI SDK bridge', reader: 'aiSdkBridge', format: 'chat' },
];
const deliveries = [
  { path: 'packets', title: 'a packet for each token' },
  { path: 'burst', title: 'all tokens at once' },
];

/** The rows of the table, each token's CPU time in microseconds. */
export async function compareModelAdapters({ rounds, streams }) {
  const server = await startProcess('sections/model-adapters', { role: 'server' });
  const client = await startProcess('sections/model-adapters', {
    role: 'client',
    port: await server.ask('port'),
  });
  const rows = [];
  for (const { path, title } of deliveries) {
    for (const { name, reader, format } of readers) {
      const pair = { base: { path, format, reader: 'bare' }, measured: { path, format, reader } };
      const { base, measured } = await compare(client, pair, { rounds, streams });
      rows.push({
        what: `${name}, ${title}: CPU per token`,
        where: '',
        unit: 'µs',
        base,
        measured,
        ratio: measured / base,
      });
    }
  }
  await Promise.all([client.stop(), server.stop()]);
  return rows;
}

/** In turns, so that whatever else the machine does hits both. */
async function compare(client, pair, { rounds, streams }) {
  const samples = { base: [], measured: [] };
  for (const side of Object.values(pair)) await client.ask('read', { ...side, streams });
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? ['base', 'measured'] : ['measured', 'base'];
    for (const side of order) samples[side].push(await client.ask('read', { ...pair[side], streams }));
  }
  return { base: median(samples.base), measured: median(samples.measured) };
}

function serve() {
  const frames = Object.fromEntries(
    Object.entries(formats).map(([name, format]) => [name, format.frames().map((text) => Buffer.from(text))]),
  );
  const whole = Object.fromEntries(
    Object.entries(frames).map(([name, parts]) => [name, Buffer.concat(parts)]),
  );
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const [, delivery, format] = request.url.split('/');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (delivery === 'burst') response.end(whole[format]);
      else sendOneByOne(response, frames[format], 0);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => serveCommands({ port: () => server.address().port }));
}

function sendOneByOne(response, frames, position) {
  if (position === frames.length) {
    response.end();
    return;
  }
  response.write(frames[position]);
  setImmediate(sendOneByOne, response, frames, position + 1);
}

async function readAsClient(port) {
  const make = await adapters();
  const made = new Map();
  const readerOf = ({ path, format, reader }) => {
    const key = `${path}/${format}/${reader}`;
    if (!made.has(key)) {
      const baseUrl = `http://127.0.0.1:${port}/${path}/${format}`;
      made.set(key, reader === 'bare' ? bareRelay(baseUrl, formats[format].textIn) : make[reader](baseUrl));
    }
    return made.get(key);
  };
  const read = async ({ streams, ...which }) => {
    const readOnce = readerOf(which);
    const before = process.cpuUsage();
    for (let done = 0; done < streams; done += 4) {
      const texts = await Promise.all([readOnce(), readOnce(), readOnce(), readOnce()]);
      for (const text of texts)
        if (text !== answer) throw new Error(`${which.reader} lost some of the answer`);
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / (Math.ceil(streams / 4) * 4 * tokensPerStream);
  };
  serveCommands({ read });
}

/** As little as it takes: bytes to lines, lines to objects, the text out of each. */
function bareRelay(baseUrl, textIn) {
  return async () => {
    const response = await fetch(baseUrl, { method: 'POST', body: '{}' });
    const decoder = new TextDecoder();
    let rest = '';
    let text = '';
    for await (const bytes of response.body) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        if (line.startsWith('data: ') && line !== 'data: [DONE]')
          text += textIn(JSON.parse(line.slice(6))) ?? '';
      }
    }
    return text;
  };
}

async function adapters() {
  const load = (file) => import(`../../packages/runyard/dist/core/models/${file}.js`);
  const [
    { openAICompatible },
    { openAIResponses },
    { anthropic },
    { gemini },
    { aiSdkModel },
    { createOpenAICompatible },
  ] = await Promise.all([
    load('openai-compatible'),
    load('openai-responses'),
    load('anthropic'),
    load('gemini'),
    load('ai-sdk'),
    import('@ai-sdk/openai-compatible'),
  ]);
  const native = (make) => (baseUrl) => {
    const model = make({ id: 'bench', apiKey: 'none', baseUrl });
    return () => streamed(model);
  };
  const packaged = (baseURL) => createOpenAICompatible({ name: 'bench', baseURL })('bench');
  return {
    openAICompatible: native(openAICompatible),
    openAIResponses: native(openAIResponses),
    anthropic: native(anthropic),
    gemini: native(gemini),
    aiSdkProvider: (baseUrl) => {
      const model = packaged(baseUrl);
      return () => streamedBySdk(model);
    },
    aiSdkBridge: (baseUrl) => {
      const model = aiSdkModel(packaged(baseUrl));
      return () => streamed(model);
    },
  };
}

async function streamed(model) {
  const request = {
    messages: [{ id: '1', role: 'user', content: 'Hello', createdAt: 0 }],
    tools: [],
    media: { put: async () => '', get: async () => undefined },
  };
  let text = '';
  for await (const chunk of model.stream(request, { signal: new AbortController().signal })) {
    if (chunk.type === 'text') text += chunk.text;
  }
  return text;
}

async function streamedBySdk(model) {
  const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }];
  const { stream } = await model.doStream({ prompt });
  let text = '';
  for await (const part of stream) if (part.type === 'text-delta') text += part.delta;
  return text;
}

/** This file as a program: one of its two processes, or, started by hand, the whole measurement. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { role, port } = process.send ? JSON.parse(process.argv[2]) : {};
  if (role === 'server') serve();
  else if (role === 'client') await readAsClient(port);
  else console.log(table(await compareModelAdapters({ rounds: 5, streams: 40 }), 'Bare relay', 'Adapter'));
}
