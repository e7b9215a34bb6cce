import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { agent, type RunyardOptions, step, team, tool, workflow } from '../../../src/index.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import type { Answer, Body, TestService } from '../../support/service.js';
import { gate, until } from '../../support/until.js';
import { absentThings, type Things } from './things.js';

export const kinds = ['agent', 'team', 'workflow'] as const;
export type Kind = (typeof kinds)[number];
export type State = 'completed' | 'paused' | 'running';

/** A run in a session of its own, and all else that its owner has. */
export interface Place extends Things {
  readonly kind: Kind;
  readonly state: State;
}

export interface Person {
  readonly userId: string;
  readonly headers: Record<string, string>;
  readonly places: readonly Place[];
  /** What no other user may see. */
  readonly secrets: readonly string[];
}

/** Every component is called so, whatever its kind. */
export const componentId = 'keeper';

/** Agents, teams and workflows whose runs complete, wait for an approval, or keep executing, as the message says. */
export class Yard {
  readonly options: RunyardOptions;
  readonly #released = gate();
  readonly #book = new ScriptBook();

  constructor() {
    const pay = tool({
      name: 'pay',
      description: 'Needs an approval',
      approval: 'required',
      inputSchema: z.object({ note: z.string() }),
      execute: ({ note }) => `paid ${note}`,
    });
    const hold = tool({
      name: 'hold',
      description: 'Takes its time',
      execute: async () => {
        await this.#released.opened;
        return 'held';
      },
    });
    const settings = { id: componentId, model: this.#book.model, tools: [pay, hold] };
    const keeper = agent({ ...settings, name: 'Keeper' });
    const helper = agent({ id: 'helper', model: this.#book.model });
    this.options = {
      scorers: [{ name: 'short', score: ({ run }) => ({ score: run.output.length, passed: null }) }],
      agents: [keeper],
      teams: [team({ ...settings, members: [helper] })],
      workflows: [workflow({ id: componentId, steps: [step({ name: 'work', agent: keeper })] })],
    };
  }

  /** Lets the executing runs end. */
  release(): void {
    this.#released.open();
  }

  /** A message that has the model bring a run into this state. */
  message(word: string, kind: Kind, state: State): string {
    const text = `${word}: ${state} as ${kind}`;
    if (state === 'paused')
      this.#book.write(text, { toolCalls: [{ name: 'pay', arguments: { note: word } }] });
    if (state === 'running') this.#book.write(text, { toolCalls: [{ name: 'hold', arguments: {} }] });
    return text;
  }
}

/** Does what a person does who uses everything, and leaves a word of theirs in all of it. */
export class Settler {
  constructor(
    private readonly service: TestService,
    private readonly yard: Yard,
    private readonly userId: string,
    private readonly headers: Record<string, string>,
    private readonly word: string,
  ) {}

  async settle(states: readonly State[]): Promise<Person> {
    const { userId, headers, word } = this;
    const memory = await this.post('/memories', { memory: `Likes ${word}`, topics: [word] });
    const { entityId } = absentThings();
    const learning = await this.post('/learnings', {
      ...{ learning_type: 'note', content: { text: word }, metadata: { text: word } },
      ...{ user_id: userId, entity_id: entityId, entity_type: 'thing', namespace: `user:${userId}` },
    });
    const evalBody = {
      agent_id: componentId,
      input: word,
      name: word,
      eval_type: 'custom',
      scorers: ['short'],
    };
    const evaluated = await this.post('/eval-runs', evalBody);
    const schedule = await this.post('/schedules', {
      ...{ name: `About ${word}`, description: word, cron_expr: '0 0 1 1 *' },
      ...{ endpoint: `/agents/${componentId}/runs`, payload: { message: word } },
    });
    const shared = {
      ...{ userId, word, entityId },
      ...(await this.dataset(word)),
      scheduleId: schedule.id as string,
      memoryId: memory.memory_id as string,
      learningId: learning.learning_id as string,
      evalRunId: evaluated.id as string,
    };
    const wanted = kinds.flatMap((kind) => states.map((state) => ({ kind, state })));
    const begun = await Promise.all(wanted.map(({ kind, state }) => this.begin(kind, state)));
    const places = await Promise.all(begun.map(async (run) => ({ ...shared, ...(await this.placeOf(run)) })));
    await this.post('/learnings', {
      ...{ learning_type: 'session_context', content: { text: word } },
      ...{ session_id: places[0]!.sessionId, user_id: userId },
    });
    return { userId, headers, places, secrets: secretsOf(places) };
  }

  /** A run that has ended, in a session of its own, for a request that changes it. */
  async fresh(kind: Kind): Promise<Things> {
    const { run_id: runId, session_id: sessionId } = await this.run(
      kind,
      this.yard.message(this.word, kind, 'completed'),
    );
    const { memory_id: memoryId } = await this.post('/memories', { memory: 'For a while' });
    const dataset = await this.dataset(randomUUID());
    return { ...absentThings(), userId: this.userId, runId, sessionId, memoryId, ...dataset };
  }

  /** A dataset with a case. */
  private async dataset(name: string): Promise<Pick<Things, 'datasetId' | 'caseId'>> {
    const { id: datasetId } = await this.post('/datasets', { name });
    const { cases } = await this.post(`/datasets/${datasetId}/cases`, { input: this.word });
    return { datasetId, caseId: cases[0].id };
  }

  private async begin(kind: Kind, state: State) {
    const { idempotencyKey } = absentThings();
    const message = this.yard.message(this.word, kind, state);
    const fields = { background: 'true', session_state: JSON.stringify({ note: this.word }) };
    const started = await this.run(kind, message, fields, { 'idempotency-key': idempotencyKey });
    const { run_id: runId, session_id: sessionId } = started;
    await until(`the run of the ${kind} is ${state}`, async () => {
      const { body } = await this.service.get(`/${kind}s/${componentId}/runs/${runId}`, this.headers);
      return body.status === state;
    });
    await this.send('POST', `/sessions/${sessionId}/rename`, { session_name: `About ${this.word}` });
    return { kind, state, runId, sessionId, idempotencyKey } as const;
  }

  private async placeOf<Run extends { readonly runId: string; readonly state: State }>(run: Run) {
    const { data } = await this.read(`/traces?run_id=${run.runId}`);
    const traceId = data[0].trace_id as string;
    const { tree } = await this.read(`/traces/${traceId}`);
    const approvals = await this.read(`/approvals?run_id=${run.runId}`);
    // a run that needs none is asked about with one of another run
    const [approval] = approvals.data.length > 0 ? approvals.data : (await this.read('/approvals')).data;
    return { ...run, traceId, spanId: tree[0].id as string, approvalId: approval.id as string };
  }

  private async run(
    kind: Kind,
    message: string,
    fields: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<Body> {
    const form = { message, stream: false, ...fields };
    const path = `/${kind}s/${componentId}/runs`;
    return done(await this.service.submit(path, form, { headers: { ...this.headers, ...headers } }));
  }

  private async read(path: string): Promise<Body> {
    return done(await this.service.get(path, this.headers));
  }

  private post(path: string, body: object): Promise<Body> {
    return this.send('POST', path, body);
  }

  private async send(method: string, path: string, body: object): Promise<Body> {
    const headers = { ...this.headers, 'content-type': 'application/json' };
    return done(await this.service.call(method, path, { headers, body: JSON.stringify(body) }));
  }
}

function done({ status, text, body }: Answer): Body {
  if (status >= 300) throw new Error(`The world could not be made: ${status} ${text}`);
  return body;
}

function secretsOf(places: readonly Place[]): string[] {
  const named = places.flatMap(({ kind: _kind, state: _state, ...things }) => Object.values(things));
  return [...new Set(named)];
}
