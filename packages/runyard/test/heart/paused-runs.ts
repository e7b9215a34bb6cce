import { z } from 'zod';
import type { RunStore } from '../../src/capabilities/runs/storage/store.js';
import { type GivenAnswer, readAnswer } from '../../src/core/agents/requirements/read-answer.js';
import { toolExecutionBody } from '../../src/core/agents/requirements/tool-execution-body.js';
import {
  requirementsOf,
  type ToolRequirementState,
} from '../../src/core/agents/requirements/tool-requirements.js';
import { toWaitOutput } from '../../src/core/agents/requirements/wait-output.js';
import { toolExecutionsOf } from '../../src/core/agents/tool-executions.js';
import type { JsonObject } from '../../src/core/json.js';
import type { ApprovalStatus } from '../../src/core/runs/approval.js';
import type { RunEngine } from '../../src/core/runs/engine.js';
import type { ToolAnswer } from '../../src/core/tools/questions/requirement.js';
import type { ToolOptions } from '../../src/core/tools/tool-options.js';
import { type Agent, tool } from '../../src/index.js';
import { allEvents, answers, begin, engineOver, freshStore } from './harness.js';

export const inputSchema = z.object({ cents: z.number(), to: z.string().default('me') });

/** A tool that remembers what it was executed with. */
export function payTool(options: Partial<ToolOptions<typeof inputSchema>>) {
  const paid: JsonObject[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    inputSchema,
    execute: (args) => {
      paid.push(args);
      return `paid ${args.cents}`;
    },
    ...options,
  });
  return { pay, paid };
}

export const call = (name: string, args: JsonObject, id = `call ${name}`) => ({ name, arguments: args, id });

/** An agent in an engine of its own, and how to look at its run and to answer it. */
export async function started(component: Agent) {
  const store = await freshStore();
  const engine = engineOver(store, [component]);
  const handle = await begin(engine, component);
  const paused = await handle.ended;
  return pausedRun(store, engine, paused.run.runId);
}

export function pausedRun(store: RunStore, engine: RunEngine, runId: string) {
  const look = async () => {
    const { run, steps } = (await store.load(runId))!;
    const tools = toolExecutionsOf(steps).map(toolExecutionBody);
    const open = requirementsOf(steps).filter(({ answer }) => answer === null);
    return { run, steps, tools, open };
  };
  const events = async () => {
    const all = await allEvents({ events: () => engine.events(runId, 0) });
    return all.map(({ data }) => JSON.parse(data) as JsonObject & { event: string });
  };
  const answerAll = async (answer: (state: ToolRequirementState) => ToolAnswer | undefined) => {
    const { open } = await look();
    const given: Record<string, unknown> = {};
    for (const state of open) {
      const found = answer(state);
      if (found !== undefined) given[state.waitKey] = toWaitOutput(state, found);
    }
    await (await engine.answer(runId, answers(given))).ended;
    return look();
  };
  /** Answers by the id of the call. */
  const reply = (given: Record<string, GivenAnswer>) =>
    answerAll((state) => {
      const said = given[state.requirement.callId];
      return said && readAnswer(state, said);
    });
  return { runId, store, engine, look, events, reply, answerAll };
}

export function decided(status: ApprovalStatus, resolutionData: JsonObject | null = null) {
  return { status, resolutionData, resolvedBy: 'boss', resolvedAt: 1, record: { id: 'a', status } };
}
