import { Agent, request } from 'node:http';
import { serveCommands } from './lib/commands.mjs';
import { ways } from './lib/ways.mjs';

/** Calls a server as often as requested, and checks every answer. */
const connections = new Agent({ keepAlive: true });
const idle = new Set();

/** The sessions of the callers, by the way and the port; a caller keeps its session over the rounds. */
const sessions = new Map();

/** Several callers, each with one run at a time, until the count or the time is up. `over`: a way into the server. */
async function load({ port, callers, runs, milliseconds, over = 'rest', ...asked }) {
  const way = ways[over];
  const opened = await openSessions(over, port, callers);
  const begun = performance.now();
  const deadline = begun + milliseconds;
  const times = [];
  let left = runs;
  const caller = async (_, position) => {
    while (left > 0 && performance.now() < deadline) {
      left -= 1;
      times.push(await run(port, way, asked, opened[position]));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const seconds = (performance.now() - begun) / 1000;
  const whole = times.map((time) => time.whole);
  const first = asked.stream ? times.map((time) => time.firstContent) : [];
  return { runs: times.length, seconds, whole, first };
}

async function openSessions(over, port, callers) {
  const { open } = ways[over];
  if (open === undefined) return [];
  const key = `${over} ${port}`;
  const known = sessions.get(key) ?? [];
  sessions.set(key, known);
  while (known.length < callers) known.push(await open(port));
  return known;
}

function run(port, way, asked, session) {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const sent = post(port, way.request(asked, session), connections, (response) => {
      let firstContent;
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
        if (asked.stream && firstContent === undefined && text.includes(way.firstMark)) {
          firstContent = performance.now() - begun;
        }
      });
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode } = response;
        const complete = statusCode === 200 && way.marks(asked.stream).every((mark) => text.includes(mark));
        if (complete) resolve({ firstContent, whole: performance.now() - begun });
        else reject(new Error(`a run answered ${statusCode}: ${text.slice(0, 500)}`));
      });
    });
    sent.on('error', reject);
  });
}

function post(port, { path, headers, body }, agent, onResponse) {
  const all = { ...headers, 'content-length': Buffer.byteLength(body) };
  const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers: all, agent }, onResponse);
  sent.end(body);
  return sent;
}

/** Opens streams that stay open, a few at a time, each up to its first event. */
async function openStreams({ port, count }) {
  let left = count;
  const opener = async () => {
    while (left > 0) {
      left -= 1;
      await openStream(port);
    }
  };
  await Promise.all(Array.from({ length: 16 }, opener));
}

function openStream(port) {
  return new Promise((resolve, reject) => {
    // No agent: each stream has a connection of its own.
    const asked = ways.rest.request({ agentId: 'waiting', stream: true });
    const sent = post(port, asked, false, (response) => {
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
