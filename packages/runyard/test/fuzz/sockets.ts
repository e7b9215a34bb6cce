import { WebSocket } from 'ws';
import { Random } from '../chaos/storm/random.js';
import type { Description } from '../support/clients/api-check.js';
import { patience } from '../support/patience.js';
import type { Audience, FuzzCaller } from './callers.js';
import { type Operation, operationsOf, type Schema } from './description.js';
import { shownInternals } from './oracle.js';
import { anyJson, brokenJson, hostileText } from './values/hostile.js';
import type { Known } from './values/pool.js';
import { SchemaValues } from './values/schema-values.js';

export interface SocketOptions {
  readonly url: string;
  readonly description: Description;
  readonly audience: Audience;
  readonly seed: number;
  /** How long it lasts; left out: the same conversations each time, on any machine. */
  readonly seconds: number | undefined;
}

const leastConversations = 60;

const kinds = ['agent', 'team', 'workflow'] as const;
type Kind = (typeof kinds)[number];

/**
 * Sends frames to the WebSocket endpoints, until the time is up if there is one: those of the contract, with fields out of the
 * published forms, and nonsense. Answers with what was wrong.
 */
export async function fuzzSockets(options: SocketOptions): Promise<string[]> {
  const { url, description, audience, seed, seconds } = options;
  const random = new Random(seed);
  const until = performance.now() + (seconds ?? 0) * 1000;
  const operations = operationsOf(description);
  const faults: string[] = [];
  for (let count = 0; faults.length === 0; count++) {
    if (count >= leastConversations && performance.now() >= until) break;
    const choices = random.fork();
    const caller = audience.pick(choices);
    const kind = choices.pick(kinds);
    const values = new SchemaValues(description, caller.pool, choices);
    const frames = Array.from({ length: choices.between(1, 8) }, () =>
      frameText(new FrameMaker(operations, kind, choices, values, caller)),
    );
    for (const frame of frames) caller.noteSent?.(frame);
    const fault = await converse(`${url.replace(/^http/, 'ws')}/${kind}s/ws`, caller, frames);
    if (fault !== undefined)
      faults.push(`/${kind}s/ws as ${caller.name}: ${fault}\n  ${frames.join('\n  ')}`);
  }
  return faults;
}

function frameText(maker: FrameMaker): string {
  const frame = maker.frame();
  return typeof frame === 'string' ? frame : JSON.stringify(frame);
}

class FrameMaker {
  constructor(
    private readonly operations: readonly Operation[],
    private readonly kind: Kind,
    private readonly random: Random,
    private readonly values: SchemaValues,
    private readonly caller: FuzzCaller,
  ) {}

  frame(): object | string {
    const { random, kind } = this;
    if (random.chance(0.1)) return random.chance(0.5) ? brokenJson(random) : hostileText(random);
    if (random.chance(0.1)) return { action: anyJson(random), token: anyJson(random) };
    const action = random.pick(['start', 'start', 'continue', 'cancel', 'reconnect']);
    const about = this.caller.pool.withAll([`${kind}_id`, ...(action === 'start' ? [] : ['run_id'])], random);
    return {
      action: action === 'reconnect' ? action : `${action}-${kind}`,
      ...this.ids(about ?? {}),
      ...(action === 'reconnect' && { last_event_index: random.pick([-1, 0, 3, 1e308, 'x', null]) }),
      ...this.fields(action === 'start' ? `create_${kind}_run` : `continue_${kind}_run`),
    };
  }

  private ids(about: Known): object {
    const { random, kind } = this;
    const names = [`${kind}_id`, 'run_id', 'session_id'];
    const sent = names.filter(() => random.chance(0.9));
    return Object.fromEntries(sent.map((name) => [name, random.chance(0.9) ? about[name] : anyJson(random)]));
  }

  private fields(operationId: string): object {
    const { random, values } = this;
    const form = this.operations.find(({ id }) => id === operationId)?.bodies[0]?.[1];
    const { properties = {} }: Schema = form ?? {};
    const wildness = random.pick([0, 0.1, 0.6]);
    const sent = Object.entries(properties).filter(
      ([name, { items }]) => items?.format !== 'binary' && (name === 'message' || random.chance(0.1)),
    );
    return Object.fromEntries(
      sent.map(([name, schema]) => [
        name,
        random.chance(wildness) ? values.hostile(schema, name) : values.fitting(schema, name),
      ]),
    );
  }
}

/** One connection: everything is sent, then a ping; its answer comes after all others. */
function converse(url: string, caller: FuzzCaller, frames: readonly string[]): Promise<string | undefined> {
  const socket = new WebSocket(url);
  return new Promise((resolve) => {
    const end = (fault: string | undefined) => {
      clearTimeout(overdue);
      socket.terminate();
      resolve(fault);
    };
    const overdue = setTimeout(() => end('it does not answer any more'), patience());
    socket.on('open', () => {
      if (caller.token) socket.send(JSON.stringify({ action: 'authenticate', token: caller.token }));
      for (const frame of frames) socket.send(frame);
      socket.send(JSON.stringify({ action: 'ping' }));
    });
    socket.on('message', (data) => {
      const text = data.toString();
      const fault = frameFault(text) ?? caller.leakIn?.(text);
      if (fault !== undefined) end(fault);
      else if (/^\{"event":"pong"/.test(text)) end(undefined);
    });
    // a client that breaks the rules is sent away with a code that says so
    socket.on('close', (code) =>
      end(code === 1006 || code === 1011 ? `it was cut off with ${code}` : undefined),
    );
    socket.on('error', (error) => end(`it was refused: ${error.message}`));
  });
}

function frameFault(text: string): string | undefined {
  const shown = shownInternals(text);
  if (shown !== undefined) return shown;
  const match = /^event: (\w+)\ndata: ([^\n\r]*)\n\n$/.exec(text);
  try {
    const payload = JSON.parse(match?.[2] ?? text) as { event?: unknown; error_code?: unknown };
    if (payload.error_code === 'internal_error') return `it failed: ${text.slice(0, 300)}`;
    return typeof payload.event === 'string' ? undefined : `a frame without an event: ${text.slice(0, 300)}`;
  } catch {
    return `a frame that cannot be read: ${text.slice(0, 300)}`;
  }
}
