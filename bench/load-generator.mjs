import { Agent, request } from 'node:http';
import { question } from './lib/answer.mjs';
import { serveCommands } from './lib/commands.mjs';

/** Calls a server as often as requested, and checks every answer. */
const connections = new Agent({ keepAlive: true });
const idle = new Set();

/** Several callers, each with one run at a time, until the count or the time is up. */
async function load({ port, agentId, callers, stream, runs, milliseconds, sessionId }) {
  const begun = performance.now();
  const deadline = begun + milliseconds;
  const body = formOf(stream, sessionId);
  const times = [];
  let left = runs;
  const caller = async () => {
    while (left > 0 && performance.now() < deadline) {
      left -= 1;
      times.push(await run(port, agentId, body, stream));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const seconds = (performance.now() - begun) / 1000;
  const whole = times.map((time) => time.whole);
  const first = stream ? times.map((time) => time.firstContent) : [];
  return { runs: times.length, seconds, whole, first };
}

function formOf(stream, sessionId) {
  const form = new URLSearchParams({ message: question, stream: String(stream) });
  if (sessionId !== undefined) form.set('session_id', sessionId);
  return form.toString();
}

function run(port, agentId, body, stream) {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const sent = post(port, agentId, body, connections, (response) => {
      let firstContent;
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
        if (stream && firstContent === undefined && text.includes('"content":"token1 ')) {
          firstContent = performance.now() - begun;
        }
      });
      response.on('error', reject);
      response.on('end', () => {
        const fault = faultOf(response, text, stream);
        if (fault !== undefined) reject(new Error(fault));
        else resolve({ firstContent, whole: performance.now() - begun });
      });
    });
    sent.on('error', reject);
  });
}

function faultOf(response, text, stream) {
  const { statusCode } = response;
  const complete = stream
    ? text.includes('event: RunCompleted') && text.includes('"content":"token50 "')
    : text.includes('"status":"completed"') && text.includes('token50 ');
  return statusCode === 200 && complete ? undefined : `a run answered ${statusCode}: ${text.slice(0, 500)}`;
}

function post(port, agentId, body, agent, onResponse) {
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': Buffer.byteLength(body),
  };
  const path = `/agents/${agentId}/runs`;
  const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent }, onResponse);
  sent.end(body);
  return sent;
}

/** Opens streams that stay open, a few at a time, each up to its first event. */
async function openStreams({ port, count }) {
  const body = formOf(true);
  let left = count;
  const opener = async () => {
    while (left > 0) {
      left -= 1;
      await openStream(port, body);
    }
  };
  await Promise.all(Array.from({ length: 16 }, opener));
}

function openStream(port, body) {
  return new Promise((resolve, reject) => {
    // No agent: each stream has a connection of its own.
    const sent = post(port, 'waiting', body, false, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a stream answered ${response.statusCode}`));
      const ended = new Promise((end) => response.on('close', end));
      idle.add(ended);
      response.on('error', () => {});
      response.on('data', resolve);
    });
    sent.on('error', reject);
  });
}

async function streamsEnded() {
  await Promise.all(idle);
  idle.clear();
}

serveCommands({ load, openStreams, streamsEnded });
