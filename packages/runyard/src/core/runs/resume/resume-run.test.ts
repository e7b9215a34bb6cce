import { describe, expect, test } from 'vitest';
import type { RunEngine } from '../engine.js';
import type { Executable } from '../executable.js';
import type { RunJournal } from '../journal/ports.js';
import type { Run, RunStatus } from '../run.js';
import { type ResumeRequest, resumeRun } from './resume-run.js';

const ended = { content: '', media: [], options: {} };
const runOf = (status: RunStatus) =>
  ({
    runId: 'r',
    kind: 'agent',
    componentId: 'a',
    sessionId: 's',
    userId: null,
    askers: ['first'],
    attempt: 1,
    nextEventIndex: 7,
    input: ended,
    status,
  }) as unknown as Run;

/** Which method of the engine a request reaches, with what; the code of the error when it is refused. */
async function decided(
  run: Run,
  given: Partial<ResumeRequest> & { answered?: string[] } = {},
  live?: RunStatus,
) {
  const calls: { method: string; fromIndex?: number; copy?: unknown; from?: unknown }[] = [];
  const note = (method: string) => async (_subject: unknown, request?: { copy?: { lineage: unknown } }) => {
    calls.push({ method, ...(request?.copy !== undefined && { copy: request.copy.lineage }) });
    return {};
  };
  const engine = {
    handle: () => (live === undefined ? undefined : { run: { ...run, status: live } }),
    ...Object.fromEntries(['answer', 'retry', 'resume', 'start'].map((name) => [name, note(name)])),
  } as unknown as RunEngine;
  const journal = {
    load: async () => ({ run, steps: [] }),
    progress: async () => ({ status: run.status }),
  } as unknown as RunJournal;
  const places: unknown[] = [];
  const executable = {
    initialState: {},
    continuation: (_run: Run, _steps: unknown, from: unknown) => {
      places.push(from);
      return { steps: [], messageIndex: 3, turn: 1 };
    },
  } as unknown as Executable;
  const { answered = [], ...wanted } = given;
  const request: ResumeRequest = {
    answers: {
      given: answered.length > 0,
      match: () => ({ answers: new Map(answered.map((key) => [key, true])), approvals: [], turn: 0 }),
      unanswered: () => Object.assign(new Error(), { code: 'unanswered' }),
    },
    from: 'end',
    fork: false,
    regenerate: false,
    replaceOriginal: true,
    input: null,
    options: {},
    ...wanted,
  };
  const site = {
    engine,
    journal,
    component: { kind: 'agent', id: 'a' } as const,
    executable: () => executable,
  };
  try {
    const { fromIndex } = await resumeRun(site, 'r', request);
    return { ...calls[0], fromIndex, ...(places.length > 0 && { from: places[0] }) };
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('how a run continues', () => {
  test('by its status', async () => {
    expect(await decided(runOf('paused'), { answered: ['wait:1'] })).toEqual({
      method: 'answer',
      fromIndex: 7,
    });
    expect(await decided(runOf('error'))).toEqual({ method: 'retry', fromIndex: 7, from: 'end' });
    expect(await decided(runOf('running'))).toEqual({ method: 'resume', fromIndex: 7 });
    expect(await decided(runOf('completed'))).toMatchObject({ method: 'start', fromIndex: 0, from: 'end' });
    expect(await decided(runOf('regenerated'))).toMatchObject({ method: 'start' });
    expect(await decided(runOf('cancelled'))).toBe('cannot_continue');
  });

  test('as a copy that names its original, which it replaces only when that had completed', async () => {
    const copied = { forkedFromRunId: 'r', forkedFromMessageIndex: 3 };
    expect(await decided(runOf('paused'), { fork: true })).toMatchObject({ copy: copied });
    expect(await decided(runOf('completed'), { regenerate: true })).toMatchObject({
      from: 'last_answer',
      copy: { ...copied, regeneratedFrom: 'r', replaces: 'r' },
    });
    const kept = await decided(runOf('completed'), { regenerate: true, replaceOriginal: false });
    expect(kept).toHaveProperty('copy', { ...copied, regeneratedFrom: 'r' });
    const failed = await decided(runOf('error'), { regenerate: true, from: 'last_user' });
    expect(failed).toMatchObject({ from: 'last_user', copy: { ...copied, regeneratedFrom: 'r' } });
    expect(failed).not.toHaveProperty('copy.replaces');
  });

  test('not while it is executed, with answers to no question, or with a message in the middle', async () => {
    expect(await decided(runOf('paused'), { answered: ['wait:1'] }, 'running')).toBe('cannot_continue');
    expect(await decided(runOf('completed'), { answered: ['wait:1'] })).toBe('cannot_continue');
    expect(await decided(runOf('error'), { answered: ['wait:1'] })).toBe('cannot_continue');
    expect(await decided(runOf('running'), { input: 'and now?' })).toBe('cannot_continue');
    expect(await decided(runOf('running'), { fork: true })).toBe('cannot_continue');
    expect(await decided(runOf('paused'))).toBe('unanswered');
    expect(await decided({ ...runOf('paused'), componentId: 'b' })).toBe('run_not_found');
  });
});
