import { createServer } from 'node:http';
import { answer, stalledAfter, tokens } from './lib/answer.mjs';
import { serveCommands } from './lib/commands.mjs';

/** A model server in the format of OpenAI's chat completions that has its answer ready. */
const usage = { prompt_tokens: 40, completion_tokens: tokens.length, total_tokens: 40 + tokens.length };
const frame = {
  id: 'chatcmpl-bench',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'bench',
};

const wholeAnswer = Buffer.from(
  JSON.stringify({
    ...frame,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' }],
    usage,
  }),
);

const frames = [
  ...tokens.map((content) => choice({ content }, null)),
  choice({}, 'stop'),
  data({ ...frame, choices: [], usage }),
  'data: [DONE]\n\n',
].map((text) => Buffer.from(text));
const allFrames = Buffer.concat(frames);
const beginning = Buffer.concat(frames.slice(0, stalledAfter));
let endless = 0;

function choice(delta, finishReason) {
  return data({ ...frame, choices: [{ index: 0, delta, finish_reason: finishReason }] });
}

function data(value) {
  return `data: ${JSON.stringify(value)}\n\n`;
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (!Buffer.concat(chunks).includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': wholeAnswer.length });
      response.end(wholeAnswer);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (request.url.startsWith('/burst/')) response.end(allFrames);
    else if (request.url.startsWith('/endless/')) sendForEver(response);
    else if (request.url.startsWith('/stalled/')) response.write(beginning);
    else sendOneByOne(response, 0);
  });
});

/** A packet for each token, because that is how tokens come from a model, only slower. */
function sendOneByOne(response, position) {
  if (position === frames.length) {
    response.end();
    return;
  }
  response.write(frames[position]);
  setImmediate(sendOneByOne, response, position + 1);
}

/** An answer without an end, at the pace of a model, until the client disconnects. */
function sendForEver(response) {
  endless += 1;
  const timer = setInterval(() => response.write(frames[0]), 10);
  response.on('close', () => {
    clearInterval(timer);
    endless -= 1;
  });
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () =>
  serveCommands({ port: () => server.address().port, endless: () => endless }),
);
