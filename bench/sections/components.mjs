import { row } from '../lib/rows.mjs';
import { databases } from '../lib/servers.mjs';
import { median } from '../lib/statistics.mjs';
import { oneRound } from './load.mjs';

/** Of the CPU time of a run, against the same agent in code. */
const mostRatio = 1.1;

const mostRuns = 5000;
const copyId = 'direct-copy';
const shapes = [
  { stream: false, callers: 1 },
  { stream: false, callers: 32 },
];

/**
 * Runs of an agent that code defines against runs of its copy, which is stored as data: on the same server and in
 * turns, so that where the agent comes from is all that differs. Its model answers at once.
 */
export async function measureComponents({ load, start }, database, { rounds, milliseconds, warmUp }, say) {
  const { title } = databases[database];
  say(`${title}: components`);
  const server = await start.runyard(database);
  await copyAgent(server.port);
  const sides = { base: 'direct', measured: copyId };
  const rows = [];
  for (const { callers, stream } of shapes) {
    const samples = { base: [], measured: [] };
    for (let round = -1; round < rounds; round += 1) {
      const order = round % 2 === 0 ? ['base', 'measured'] : ['measured', 'base'];
      for (const side of order) {
        const shape = { agentId: sides[side], stream, callers };
        const result = await oneRound(
          load,
          server,
          shape,
          round < 0 ? warmUp : { runs: mostRuns, milliseconds },
        );
        if (round >= 0) samples[side].push(result);
      }
    }
    const both = (what, unit, value, bound) =>
      row({
        what: `${what}, ${callers} ${callers === 1 ? 'caller' : 'callers'}`,
        where: title,
        unit,
        base: median(samples.base.map(value)),
        measured: median(samples.measured.map(value)),
        ...bound,
      });
    rows.push(both('CPU of a run', 'ms', ({ cpuPerRun }) => cpuPerRun / 1000, { mostRatio }));
    rows.push(both('time of a run, p50', 'ms', ({ whole }) => median(whole)));
  }
  await server.stop();
  return rows;
}

async function copyAgent(port) {
  const base = `http://127.0.0.1:${port}`;
  const copied = await answerOf(fetch(`${base}/agents/direct/config`));
  const component = {
    name: 'Direct',
    component_id: copyId,
    component_type: 'agent',
    stage: 'published',
    config: copied.config,
  };
  const headers = { 'content-type': 'application/json' };
  await answerOf(fetch(`${base}/components`, { method: 'POST', headers, body: JSON.stringify(component) }));
}

async function answerOf(asked) {
  const response = await asked;
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
  return response.json();
}
