import { z } from 'zod';
import { median } from '../lib/statistics.mjs';

const toolCount = 10;
const parallelCalls = 16;

/** Making an agent with ten tools, and a turn of sixteen tool calls at once, in this process and without HTTP. */
export async function measureAgents({ rounds, repetitions }) {
  const { agent, tool } = await import('../../packages/runyard/bundle/index.js');
  const { scriptedModel } = await import('../../packages/runyard/bundle/testing.js');
  const make = () => newAgent(agent, tool);
  return {
    construction: median(await inRounds(rounds, () => construction(make, repetitions))),
    kibibytes: memoryOf(make, repetitions),
    plainObjects: {
      microseconds: median(await inRounds(rounds, () => construction(plainObjects, repetitions))),
      kibibytes: memoryOf(plainObjects, repetitions),
    },
    turn: await turns({ agent, tool, scriptedModel }, rounds, repetitions / 10),
  };
}

async function inRounds(rounds, measure) {
  const results = [];
  for (let round = 0; round < rounds; round += 1) results.push(await measure());
  return results;
}

function toolOptions(index) {
  return {
    name: `tool_${index}`,
    description: 'Adds two numbers',
    inputSchema: sum,
    execute: ({ a, b }) => a + b,
  };
}

function agentOptions(tools) {
  return { id: 'a', model: 'offline', instructions: 'Be brief.', tools };
}

function newAgent(agent, tool) {
  return agent(agentOptions(Array.from({ length: toolCount }, (_, index) => tool(toolOptions(index)))));
}

/** The same definition as unused data: the least that any framework would cost. */
function plainObjects() {
  return agentOptions(Array.from({ length: toolCount }, (_, index) => toolOptions(index)));
}

const sum = z.object({ a: z.number(), b: z.number() });

/** Microseconds of CPU for one agent. */
function construction(make, repetitions) {
  const before = process.cpuUsage();
  for (let made = 0; made < repetitions; made += 1) make();
  return cpuSince(before) / repetitions;
}

function memoryOf(make, repetitions) {
  const kept = new Array(repetitions);
  global.gc();
  const before = process.memoryUsage().heapUsed;
  for (let made = 0; made < repetitions; made += 1) kept[made] = make();
  global.gc();
  return (process.memoryUsage().heapUsed - before) / repetitions / 1024;
}

/** Runs with one turn of tool calls against runs without: what the calls cost, each, beside the bare functions. */
async function turns({ agent, tool, scriptedModel }, rounds, repetitions) {
  const add = ({ a, b }) => a + b;
  const tools = [tool({ name: 'add', description: 'Adds', inputSchema: sum, readOnly: true, execute: add })];
  const toolCalls = Array.from({ length: parallelCalls }, (_, index) => ({
    id: `call_${index}`,
    name: 'add',
    arguments: `{"a":${index},"b":1}`,
  }));
  const calling = agent({
    id: 'calling',
    model: scriptedModel(({ messages }) => (messages.at(-1).role === 'tool' ? 'done' : { toolCalls })),
    tools,
  });
  const plain = agent({ id: 'plain', model: scriptedModel(() => 'done'), tools });
  const cost = async (component) => {
    const before = process.cpuUsage();
    for (let run = 0; run < repetitions; run += 1) await component.run('go');
    return cpuSince(before) / repetitions;
  };
  await inRounds(2, () => cost(calling));
  const samples = { calling: [], plain: [], bare: [] };
  for (let round = 0; round < rounds; round += 1) {
    samples.calling.push(await cost(calling));
    samples.plain.push(await cost(plain));
    samples.bare.push(bareCalls(add, toolCalls, repetitions));
  }
  return { calling: median(samples.calling), plain: median(samples.plain), bare: median(samples.bare) };
}

/** The same arguments parsed and the same functions called, with nothing around them. */
function bareCalls(add, toolCalls, repetitions) {
  const before = process.cpuUsage();
  for (let turn = 0; turn < repetitions; turn += 1) {
    for (const call of toolCalls) add(sum.parse(JSON.parse(call.arguments)));
  }
  return cpuSince(before) / repetitions;
}

function cpuSince(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
