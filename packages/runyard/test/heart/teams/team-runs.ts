import type { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { type GivenAnswer, readAnswer } from '../../../src/core/agents/requirements/read-answer.js';
import { teamRequirementsOf } from '../../../src/core/agents/requirements/team-requirements.js';
import { toWaitOutput } from '../../../src/core/agents/requirements/wait-output.js';
import type { JsonObject } from '../../../src/core/json.js';
import type { RunEngine } from '../../../src/core/runs/engine.js';
import { memberResponses } from '../../../src/core/teams/member-responses.js';
import type { Team } from '../../../src/index.js';
import type { ScriptedToolCall } from '../../../src/testing.js';
import { allEvents, answers, begin, engineOver, freshStore } from '../harness.js';

export type TeamEvent = JsonObject & { event: string };

export const call = (name: string, args: JsonObject, id = `call ${name}`): ScriptedToolCall => ({
  name,
  arguments: args,
  id,
});

/** The leader hands a task to a member. */
export const ask = (member: string, task: string, id = `ask ${member}`): ScriptedToolCall =>
  call('delegate_task_to_member', { member_id: member, task }, id);

/** A team in an engine of its own, run to its end or its pause. */
export async function ran(component: Team, { stream = true, content = 'hello' } = {}) {
  const store = await freshStore();
  const engine = engineOver(store, [component]);
  const input = { content, media: [], options: { stream } };
  const handle = await begin(engine, component, { input, userId: 'ada' });
  await handle.ended;
  return runOf(store, engine, handle.runId);
}

/** How to look at a run of a team and to answer what it waits for. */
export function runOf(store: RunStore, engine: RunEngine, runId: string) {
  const look = async () => {
    const { run, steps } = (await store.load(runId))!;
    const requirements = teamRequirementsOf(run, steps);
    const responses = memberResponses(run, steps);
    return {
      run,
      steps,
      requirements,
      open: requirements.filter(({ answer }) => answer === null),
      responses,
    };
  };
  const events = async (from = 0): Promise<TeamEvent[]> => {
    const all = await allEvents({ events: () => engine.events(runId, from) });
    return all.map(({ data }) => JSON.parse(data) as TeamEvent);
  };
  /** Answers by the id of the call; with the events that came after. */
  const reply = async (given: Record<string, GivenAnswer>) => {
    const { open, run } = await look();
    const outputs: Record<string, unknown> = {};
    for (const state of open) {
      const said = given[state.requirement.callId];
      if (said !== undefined) outputs[state.waitKey] = toWaitOutput(state, readAnswer(state, said)!);
    }
    await (await engine.answer(runId, answers(outputs))).ended;
    const after = await events(run.nextEventIndex);
    return { ...(await look()), after };
  };
  return { runId, store, engine, look, events, reply };
}

/** The names of events, a series of chunks once. */
export function namesOf(events: readonly TeamEvent[]): string[] {
  return events.map(({ event }) => event).filter((name, index, all) => name !== all[index - 1]);
}

/** The joined content of the chunks of an event. */
export function textIn(events: readonly TeamEvent[], name: string): string {
  return events
    .flatMap(({ event, content }) => (event === name && typeof content === 'string' ? content : []))
    .join('');
}
