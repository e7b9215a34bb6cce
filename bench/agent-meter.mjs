import { serveCommands } from './lib/commands.mjs';
import { measureAgents } from './sections/agents.mjs';

/** Measures agents in a process in which nothing else happens. */
const amounts = JSON.parse(process.argv[2]);

serveCommands({ measure: () => measureAgents(amounts) });
