import { median } from '../lib/statistics.mjs';

/** That of an eval which names none. */
const concurrency = 4;

/**
 * An eval of many cases by one function, in this process: beside a loop that runs the same agent and calls the same
 * function. The model has its answer ready. Once with runs that are kept in memory, and once with runs that a service
 * stores in the folder.
 */
export async function measureEvals({ rounds, cases: count, dataDir }) {
  const { agent, Runyard } = await import('../../packages/runyard/bundle/index.js');
  const { evaluate } = await import('../../packages/runyard/bundle/evals.js');
  const { scriptedModel } = await import('../../packages/runyard/bundle/testing.js');
  const newAgent = () => agent({ id: 'instant', model: scriptedModel(() => 'an answer') });
  const [inMemory, stored] = [newAgent(), newAgent()];
  const app = new Runyard({ logLevel: 'warn', dataDir, autoMigrate: true, agents: [stored] });
  const cases = Array.from({ length: count }, (_, at) => ({ id: `case ${at}`, input: `question ${at}` }));
  const evalOf = (evaluated) => evaluate({ name: 'speed', agent: evaluated, cases, scorers: [isAnswered] });
  const works = {
    loop: () => bareLoop(inMemory, cases),
    evaluated: () => evaluating(evalOf(inMemory)),
    storedLoop: () => bareLoop(stored, cases),
    storedEvaluated: () => evaluating(evalOf(stored)),
  };
  try {
    return await inTurns(works, rounds, count);
  } finally {
    await app.close();
  }
}

function answered({ output }) {
  return output === 'an answer';
}

const isAnswered = { name: 'answered', score: ({ run }) => ({ passed: answered(run) }) };

async function bareLoop(component, cases) {
  const waiting = cases.values();
  const worker = async () => {
    for (const { input } of waiting) {
      const { content } = await component.run(input);
      if (!answered({ output: content })) throw new Error('an answer is wrong');
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

async function evaluating(evaluation) {
  const { passed, faults } = await evaluation.run({ concurrency });
  if (!passed) throw new Error(`the eval failed: ${faults}`);
}

/** Milliseconds of CPU of a case, and cases per second: the median of the rounds, in which all take turns. */
async function inTurns(works, rounds, cases) {
  const samples = Object.fromEntries(Object.keys(works).map((name) => [name, { cpu: [], perSecond: [] }]));
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, work] of Object.entries(works)) {
      const cpuBefore = process.cpuUsage();
      const begun = performance.now();
      await work();
      const milliseconds = performance.now() - begun;
      const { user, system } = process.cpuUsage(cpuBefore);
      // the first round loads and compiles
      if (round < 0) continue;
      samples[name].cpu.push((user + system) / 1000 / cases);
      samples[name].perSecond.push((cases / milliseconds) * 1000);
    }
  }
  return Object.fromEntries(
    Object.entries(samples).map(([name, { cpu, perSecond }]) => [
      name,
      { cpu: median(cpu), perSecond: median(perSecond) },
    ]),
  );
}
