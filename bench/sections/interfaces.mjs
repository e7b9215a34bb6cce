import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundledFiles } from '../../scripts/lib/bundle.mjs';
import { root } from '../../scripts/lib/setup.mjs';
import { freePort, isHealthy } from '../lib/ports.mjs';
import { row } from '../lib/rows.mjs';
import { databases } from '../lib/servers.mjs';
import { median } from '../lib/statistics.mjs';
import { oneRound } from './load.mjs';

/** Of the CPU time of a run, against the same run over REST. */
const mostRatio = 1.5;

/** Of a start without the interfaces, against a build that does not have them: only what is measured inexactly. */
const mostStartRatio = 1.05;

const mostRuns = 5000;

/** What is asked of each interface: a run with one response, and a stream. REST is what the others are compared with. */
const shapes = [
  {
    stream: false,
    titles: {
      mcp: 'a run over MCP',
      a2a: 'a run over A2A',
      chat: 'a chat completion',
      responses: 'a response of OpenAI',
    },
  },
  {
    stream: true,
    titles: {
      a2a: 'a stream over A2A',
      chat: 'a streamed chat completion',
      responses: 'a streamed response of OpenAI',
      agui: 'a stream over AG-UI',
      aiSdk: 'a stream for the AI SDK',
    },
  },
].flatMap((shape) => [1, 32].map((callers) => ({ ...shape, callers })));

/** The settings that turn on what is measured, and the names in the rows. */
const names = { mcp: 'MCP', a2a: 'A2A', openai: 'OpenAI', agui: 'AG-UI', aiSdk: 'AI SDK' };
const interfacesOn = Object.fromEntries(Object.keys(names).map((name) => [name, true]));

/**
 * Runs over the interfaces against the same runs over REST: on the same server, and all of them in turns within each
 * round, forwards and backwards, so that the way is all that differs. One row of REST rounds serves all interfaces. The
 * model answers at once, or streams all tokens in one packet.
 */
export async function measureInterfaces({ load, start }, database, { rounds, milliseconds, warmUp }, say) {
  const { title: where } = databases[database];
  const server = await start.runyard(database, interfacesOn);
  const rows = [];
  for (const { stream, titles, callers } of shapes) {
    const many = `${callers} ${callers === 1 ? 'caller' : 'callers'}`;
    say(`${where}: ${stream ? 'streams' : 'runs'} over REST and the interfaces, ${many}`);
    const ways = ['rest', ...Object.keys(titles)];
    const samples = Object.fromEntries(ways.map((way) => [way, []]));
    for (let round = -1; round < rounds; round += 1) {
      const bounds = round < 0 ? warmUp : { runs: mostRuns, milliseconds };
      for (const way of round % 2 === 0 ? ways : ways.toReversed()) {
        const shape = { agentId: stream ? 'burst' : 'direct', over: way, stream, callers };
        const result = await oneRound(load, server, shape, bounds);
        if (round >= 0) samples[way].push(result);
      }
    }
    for (const [over, title] of Object.entries(titles)) {
      const both = (what, value, bound) =>
        row({
          what: `${what}: ${title}, ${many}`,
          where,
          unit: 'ms',
          base: median(samples.rest.map(value)),
          measured: median(samples[over].map(value)),
          ...bound,
        });
      rows.push(both('CPU', ({ cpuPerRun }) => cpuPerRun / 1000, { mostRatio }));
      rows.push(both('time, p50', ({ whole }) => median(whole)));
    }
  }
  await server.stop();
  return rows;
}

/** The modules of the interfaces that are there before an application opts in. The build without them has none of their code. */
const leftOut = ['mcp', 'a2a', 'openai', 'agui', 'ai-sdk'].map((room) => `interfaces/${room}/interface.js`);

/**
 * From the start of a process until /health answers: a build without the interfaces, and the build as it is, with none
 * and with each of them. The starts take turns.
 */
export async function measureInterfaceStarts({ folder }, { starts }, say) {
  say('start with and without the interfaces');
  const lean = await leanBuild(mkdtempSync(join(folder, 'lean-')));
  const whole = join(root, 'packages/runyard');
  const sides = { lean: [lean, {}], off: [whole, {}] };
  for (const name of Object.keys(interfacesOn)) sides[name] = [whole, { [name]: true }];
  const samples = Object.fromEntries(Object.keys(sides).map((side) => [side, []]));
  // the first start of each compiles what the next ones find compiled
  for (let round = -1; round < starts; round += 1) {
    for (const [side, [place, settings]] of Object.entries(sides)) {
      const dataDir = mkdtempSync(join(folder, 'start-'));
      const took = await startOnce(place, { ...settings, dataDir });
      if (round >= 0) samples[side].push(took);
    }
  }
  const against = (what, side, bound) =>
    row({
      what,
      where: 'SQLite',
      unit: 'ms',
      base: median(samples.lean),
      measured: median(samples[side]),
      ...bound,
    });
  return [
    against('start, interfaces off', 'off', { mostRatio: mostStartRatio }),
    ...Object.entries(names).map(([side, name]) => against(`start, ${name} on`, side)),
  ];
}

/** The package as it would be built if it had none of them. */
async function leanBuild(target) {
  const source = join(root, 'packages/runyard');
  const plugin = {
    name: 'left-out',
    load: (id) => {
      if (!leftOut.some((one) => id.replaceAll('\\', '/').endsWith(one))) return null;
      const names = readFileSync(id, 'utf8').matchAll(/^export (?:async )?(?:function|const) (\w+)/gm);
      return [...names].map(([, name]) => `export const ${name} = undefined;`).join('\n');
    },
  };
  for (const file of await bundledFiles(source, [plugin])) {
    const path = join(target, 'bundle', file.fileName);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file.code ?? file.source);
  }
  copyFileSync(join(source, 'package.json'), join(target, 'package.json'));
  return target;
}

const program = `const [place, settings] = process.argv.slice(1);
  const { agent, Runyard } = await import(place);
  const agents = [agent({ id: 'plain', model: 'offline' })];
  await new Runyard({ agents, logLevel: 'silent', ...JSON.parse(settings) }).listen();`;

async function startOnce(place, settings) {
  const port = await freePort();
  const begun = performance.now();
  const words = [join(place, 'bundle/index.js'), JSON.stringify({ ...settings, port })];
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, ...words], {
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  try {
    while (!(await isHealthy(port))) {
      if (child.exitCode !== null) throw new Error(`a server ended with code ${child.exitCode} at its start`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return performance.now() - begun;
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}
