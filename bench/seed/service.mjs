import { agent, Runyard, step, team, tool, workflow } from '../../packages/runyard/bundle/index.js';
import { seedComponents } from './components.mjs';

const { agents, teams, workflows } = seedComponents({ agent, team, workflow, tool, step });

/** What the seeded database is migrated for. */
export const app = new Runyard({ agents, teams, workflows });
