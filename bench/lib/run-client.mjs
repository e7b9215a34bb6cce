import { Agent, request } from 'node:http';
import { EventStream } from './event-stream.mjs';

const connections = new Agent({ keepAlive: true });
let lastRun = 0;

/** A client of the runs of one agent. What the server does not accept as expected ends the bench. */
export class RunClient {
  constructor(port, agentId) {
    this.port = port;
    this.agentId = agentId;
  }

  /** An id that no other run of this bench has. */
  newRunId() {
    lastRun += 1;
    return `bench-${process.pid}-${lastRun}`;
  }

  path(runId, rest = '') {
    return `/agents/${this.agentId}/runs/${runId}${rest}`;
  }

  create(form) {
    return this.call('POST', `/agents/${this.agentId}/runs`, form);
  }

  cancel(runId) {
    return this.call('POST', this.path(runId, '/cancel'));
  }

  async get(runId) {
    return (await this.call('GET', this.path(runId))).body;
  }

  /** Agrees to everything that a run waits for, and answers when it has ended. */
  agree({ run_id: runId, tools }) {
    const answers = tools.map((tool) => ({ ...tool, confirmed: true }));
    const form = { tools: JSON.stringify(answers), stream: 'false' };
    return this.call('POST', this.path(runId, '/continue'), form);
  }

  stream(form) {
    return this.open('POST', `/agents/${this.agentId}/runs`, { ...form, stream: 'true' });
  }

  follow(runId, last = -1) {
    return this.open('GET', this.path(runId, `/events?last_event_index=${last}`));
  }

  async call(method, path, form) {
    const response = await this.send(method, path, form, connections);
    let text = '';
    response.setEncoding('utf8');
    for await (const chunk of response) text += chunk;
    const { statusCode: status, headers } = response;
    if (status >= 400 && status !== 503) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    return { status, headers, body: JSON.parse(text) };
  }

  /** Each stream has a connection of its own. */
  async open(method, path, form) {
    const response = await this.send(method, path, form, false);
    if (response.statusCode !== 200) throw new Error(`${method} ${path} answered ${response.statusCode}`);
    return new EventStream(response);
  }

  send(method, path, form, agent) {
    const body = form && new URLSearchParams(form).toString();
    const headers = body && {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': Buffer.byteLength(body),
    };
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.port, path, method, headers, agent };
      request(options, resolve).on('error', reject).end(body);
    });
  }
}

/** Does something many times, a few at a time, and returns all results. */
export async function manyTimes(count, atOnce, work) {
  const results = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const position = next;
      next += 1;
      results[position] = await work(position);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
  return results;
}

/** Milliseconds until the promise is fulfilled, and its value. */
export async function timed(work) {
  const begun = performance.now();
  const value = await work();
  return { value, milliseconds: performance.now() - begun };
}

/** Asks until the answer is not undefined. */
export async function until(what, ask, { everyMs = 2, withinMs = 60_000 } = {}) {
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error(`${what}: not within ${withinMs / 1000} s`);
}
