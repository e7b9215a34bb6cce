import { expect } from 'vitest';
import type { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { type GivenAnswer, readAnswer } from '../../../src/core/agents/requirements/read-answer.js';
import { teamRequirementsOf } from '../../../src/core/agents/requirements/team-requirements.js';
import { toWaitOutput } from '../../../src/core/agents/requirements/wait-output.js';
import type { JsonObject, JsonSchema } from '../../../src/core/json.js';
import type { Executable } from '../../../src/core/runs/executable.js';
import { replayRun } from '../../../src/core/runs/resume/replay.js';
import { readStepAnswer } from '../../../src/core/workflows/review/read-step-answer.js';
import { workflowRequirementsOf } from '../../../src/core/workflows/review/workflow-requirements.js';
import { agent, type StepEntry, step, type ToolOptions, tool, workflow } from '../../../src/index.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { scriptedModel } from '../../../src/testing.js';
import { allEvents, answers, begin, engineOver, freshStore, goOn } from '../harness.js';

export type ToolSettings = Partial<ToolOptions<JsonSchema>>;

export const flow = (...list: StepEntry[]) => workflow({ id: 'newsletter', steps: list });

/** What was done, in order: steps, tools and hooks of both versions of the code write their names into it. */
export class Deeds {
  readonly list: string[] = [];

  does(name: string) {
    return step({ name, run: () => this.note(name) });
  }

  /** A step that a person has to confirm. */
  confirmed(name: string) {
    return step({ name, review: { requiresConfirmation: true }, run: () => this.note(name) });
  }

  /** A step that an agent executes. */
  asks(name: string, id = name) {
    return step({ name, agent: agent({ id, model: scriptedModel(() => this.note(`${id} answers`)) }) });
  }

  /** A tool that a person has to confirm, unless its settings say otherwise. */
  confirmedTool(name: string, settings: ToolSettings = {}) {
    return tool({
      name,
      description: 'x',
      requiresConfirmation: true,
      execute: () => this.note(name),
      ...settings,
    } as ToolOptions<JsonSchema>);
  }

  note(name: string): string {
    this.list.push(name);
    return name;
  }
}

/** A run that was left waiting by one version of the code, as another one finds it. */
export async function waiting(before: Executable) {
  const store = await freshStore();
  const handle = await begin(engineOver(store, [before]), before);
  const { run } = await handle.ended;
  expect(run.status).toBe('paused');
  return waitingRun(store, run.runId);
}

/** A run whose process died while a step was at work. */
export async function abandoned(before: Executable, isStored: (keys: readonly string[]) => boolean) {
  const store = await freshStore();
  const dead = engineOver(store, [before], { owner: 'dead', leaseMs: 1 });
  const { runId } = await begin(dead, before, { background: true });
  const keys = async () =>
    ((await store.load(runId))?.steps ?? []).map(({ key, status }) => `${key} ${status}`);
  await expect.poll(async () => isStored(await keys())).toBe(true);
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  return waitingRun(store, runId);
}

function waitingRun(store: RunStore, runId: string) {
  const look = async () => (await store.load(runId))!;
  const answersTo = async (given: Record<string, GivenAnswer>): Promise<Record<string, unknown>> => {
    const { run, steps } = await look();
    if (run.kind !== 'workflow') {
      const open = teamRequirementsOf(run, steps).filter(({ answer }) => answer === null);
      return Object.fromEntries(
        open.flatMap((state) => {
          const said = given[state.requirement.toolName];
          return said === undefined ? [] : [[state.waitKey, toWaitOutput(state, readAnswer(state, said)!)]];
        }),
      );
    }
    const { open } = workflowRequirementsOf(run, steps);
    return Object.fromEntries(
      open.flatMap((state): [string, unknown][] => {
        if (state.kind !== 'executor')
          return [
            [
              state.waitKey!,
              readStepAnswer(state, {
                confirmed: true,
                ...(given[state.stepName] as JsonObject | undefined),
              }),
            ],
          ];
        return state.calls.map((one) => [
          one.waitKey,
          toWaitOutput(
            one.state,
            readAnswer(one.state, given[one.state.requirement.toolName] ?? { confirmed: true })!,
          ),
        ]);
      }),
    );
  };
  /** Answers what it waits for, with another version of the code. */
  const continuedBy = async (after: Executable, given: Record<string, GivenAnswer> = {}) => {
    const replies = await answersTo(given);
    const handle = await engineOver(store, [after]).answer(runId, answers(replies));
    return handle.ended;
  };
  return {
    store,
    runId,
    look,
    continuedBy,
    /** Expects that another version of the code refuses it and leaves everything as it is. */
    async refusedBy(after: Executable, text: string, given: Record<string, GivenAnswer> = {}) {
      const before = await look();
      await expect(continuedBy(after, given)).rejects.toMatchObject({
        code: 'definition_changed',
        status: 409,
        message: expect.stringContaining(text),
      });
      expect(await look()).toEqual(before);
    },
    /** Recovers it with another version of the code. */
    async recoveredBy(after: Executable) {
      const engine = engineOver(store, [after]);
      await engine.recover();
      await allEvents({ events: () => engine.events(runId, 0) });
      return { ...(await look()), engine };
    },
    /** Continues it after it failed. */
    async retriedBy(after: Executable) {
      const { run, steps } = await look();
      const kept = after.continuation!(run, steps, 'end')!;
      return (await engineOver(store, [after]).retry(runId, kept, goOn)).ended;
    },
    async replayedBy(after: Executable) {
      const { run, steps } = await look();
      return replayRun(after, run, steps, systemTimers);
    },
  };
}
