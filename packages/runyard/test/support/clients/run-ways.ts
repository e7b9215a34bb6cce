import { expect } from 'vitest';
import type { Body, FormValue, TestService } from '../service.js';
import { until } from '../until.js';
import type { SseClient } from './sse-client.js';

/** The ways to have an agent run, and to learn how it went. */
export const runWays = ['not streamed', 'streamed', 'in the background'] as const;
export type RunWay = (typeof runWays)[number];

/** All that a client received of a run. */
export interface SeenRun {
  /** What the request itself was answered with, unless that was a stream or an acknowledgement. */
  readonly answer: Body | undefined;
  readonly stream: SseClient | undefined;
  readonly stored: Body;
  readonly listed: Body;
  /** Every byte of it as it came over the wire. */
  readonly text: string;
}

/** Runs an agent to its end, and looks at it in every place where it can be seen. */
export async function seeRun(
  service: TestService,
  way: RunWay,
  agentId: string,
  form: Readonly<Record<string, FormValue>>,
): Promise<SeenRun> {
  const begun = await run(service, way, agentId, form);
  const stored = await until('the run has ended', async () => {
    const got = await service.get(`/agents/${agentId}/runs/${begun.runId}`);
    return !['pending', 'running'].includes(got.body.status) && got;
  });
  const list = await service.get(`/agents/${agentId}/runs?session_id=${stored.body.session_id}`);
  return {
    answer: begun.answer,
    stream: begun.stream,
    stored: stored.body,
    listed: list.body.find(({ run_id }: Body) => run_id === begun.runId),
    text: [begun.text, stored.text, list.text].join('\n'),
  };
}

async function run(
  service: TestService,
  way: RunWay,
  agentId: string,
  form: Readonly<Record<string, FormValue>>,
) {
  if (way === 'streamed') {
    const stream = await (await service.stream(agentId, { ...form, stream: true })).end();
    const text = stream.frames.map(({ data }) => data).join('\n');
    return { runId: stream.events[0]?.run_id as string, answer: undefined, stream, text };
  }
  const background = way === 'in the background';
  const { status, body, text } = await service.run(agentId, { ...form, background });
  expect(status).toBe(background ? 202 : 200);
  return {
    runId: body.run_id as string,
    answer: background ? undefined : body,
    stream: undefined,
    text,
  };
}

export interface ExpectedFailure {
  readonly content: unknown;
  readonly error_type: string;
  readonly error_id?: string;
  readonly additional_data?: unknown;
}

/** A failed run says the same everywhere: its end is the failure, and nothing comes after that. */
export function expectFailure(seen: SeenRun, failure: ExpectedFailure): void {
  const { answer, stream, stored, listed } = seen;
  const { content, ...error } = failure;
  for (const body of answer === undefined ? [stored] : [answer, stored]) {
    expect(errorOf(body)).toEqual({ status: 'error', content, ...error });
  }
  for (const events of stream === undefined ? [stored.events] : [stream.events, stored.events]) {
    expect(events.filter(({ event }: Body) => event === 'RunError')).toHaveLength(1);
    expect(events.at(-1).event).toBe('RunError');
    expect(errorOf(events.at(-1))).toEqual({ content, ...error });
    expect(events.map(({ event }: Body) => event)).not.toContain('RunCompleted');
  }
  const empty = { error_id: null, additional_data: null };
  expect(errorOf(listed)).toEqual({ status: 'error', content, ...empty, ...error });
}

function errorOf(body: Body): object {
  const names = ['status', 'content', 'error_type', 'error_id', 'additional_data'];
  return Object.fromEntries(names.filter((name) => name in body).map((name) => [name, body[name]]));
}
