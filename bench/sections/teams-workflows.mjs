import { median } from '../lib/statistics.mjs';

/** Steps of the workflow, and members of the team. */
export const parts = 20;

/**
 * A workflow of twenty functions and a broadcast to twenty members, in this process and without HTTP: beside the same
 * functions and the same models called one after the other with nothing around them. Once with runs that are kept in
 * memory, and once with runs that a service stores in the folder.
 */
export async function measureTeamsAndWorkflows({ rounds, repetitions, dataDir }) {
  const { agent, team, workflow, Runyard } = await import('../../packages/runyard/bundle/index.js');
  const { scriptedModel } = await import('../../packages/runyard/bundle/testing.js');
  const library = { agent, team, workflow, scriptedModel };
  const stored = { flow: newWorkflow(library), crew: newTeam(library).crew };
  const app = new Runyard({
    logLevel: 'warn',
    dataDir,
    autoMigrate: true,
    teams: [stored.crew],
    workflows: [stored.flow],
  });
  const { crew, models } = newTeam(library);
  const works = {
    functions: bareFunctions,
    workflow: running(newWorkflow(library)),
    storedWorkflow: running(stored.flow),
    models: () => bareModels(models),
    broadcast: running(crew),
    storedBroadcast: running(stored.crew),
  };
  try {
    return await inTurns(works, rounds, repetitions);
  } finally {
    await app.close();
  }
}

const addOne = async ({ previousStepContent, input }) => Number(previousStepContent ?? input) + 1;

function newWorkflow({ workflow }) {
  return workflow({
    id: 'flow',
    steps: Array.from({ length: parts }, (_, index) =>
      Object.defineProperty(addOne.bind(null), 'name', {
        value: `step ${index}`,
      }),
    ),
  });
}

/** Nothing of a model but its answer: the leader asks all members, and then answers. */
function newTeam({ agent, team, scriptedModel }) {
  const asking = { toolCalls: [{ name: 'delegate_task_to_members', arguments: { task: 'go' } }] };
  const leader = scriptedModel(({ messages }) => (messages.at(-1).role === 'tool' ? 'done' : asking));
  const answering = scriptedModel(() => 'an answer');
  const members = Array.from({ length: parts }, (_, index) =>
    agent({ id: `member-${index}`, model: answering }),
  );
  const crew = team({ id: 'crew', model: leader, mode: 'broadcast', members });
  return { crew, models: { leader, answering } };
}

function running(component) {
  return async () => {
    const { status } = await component.run('1');
    if (status !== 'completed') throw new Error(`a run of ${component.id} is ${status}`);
  };
}

async function bareFunctions() {
  let previousStepContent = null;
  for (let step = 0; step < parts; step += 1)
    previousStepContent = await addOne({ previousStepContent, input: '1' });
}

/** The same calls: the leader, all members at once, and the leader again. */
async function bareModels({ leader, answering }) {
  const call = (model, role) =>
    model.generate(
      { messages: [{ role, content: 'go' }], tools: [] },
      { signal: new AbortController().signal },
    );
  await call(leader, 'user');
  await Promise.all(Array.from({ length: parts }, () => call(answering, 'user')));
  await call(leader, 'tool');
}

/** Microseconds of CPU and of time for one run of each, the median of the rounds, in which all take turns. */
async function inTurns(works, rounds, repetitions) {
  const samples = Object.fromEntries(Object.keys(works).map((name) => [name, { cpu: [], time: [] }]));
  for (const work of Object.values(works)) await costOf(work, repetitions);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, work] of Object.entries(works)) {
      const { cpu, time } = await costOf(work, repetitions);
      samples[name].cpu.push(cpu);
      samples[name].time.push(time);
    }
  }
  return Object.fromEntries(
    Object.entries(samples).map(([name, { cpu, time }]) => [name, { cpu: median(cpu), time: median(time) }]),
  );
}

async function costOf(work, repetitions) {
  const cpuBefore = process.cpuUsage();
  const begun = performance.now();
  for (let run = 0; run < repetitions; run += 1) await work();
  const time = ((performance.now() - begun) * 1000) / repetitions;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { cpu: (user + system) / repetitions, time };
}
