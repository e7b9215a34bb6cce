import { agent, Runyard, step, team, tool, workflow } from '../packages/runyard/bundle/index.js';
import { serveCommands } from './lib/commands.mjs';
import { seedComponents } from './seed/components.mjs';

/** Runyard over a seeded database. Traces of sixty days are kept: they are what is looked for. */
const settings = JSON.parse(process.argv[2]);
const { agents, teams, workflows } = seedComponents({ agent, team, workflow, tool, step });
const app = new Runyard({
  port: 0,
  logLevel: 'warn',
  traceRetentionDays: 0,
  ...settings,
  agents,
  teams,
  workflows,
});
const { port } = await app.listen();
serveCommands({ port: () => port }, () => app.close({ graceMs: 1000 }));
