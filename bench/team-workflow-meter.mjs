import { serveCommands } from './lib/commands.mjs';
import { measureTeamsAndWorkflows } from './sections/teams-workflows.mjs';

/** Measures teams and workflows in a process in which nothing else happens. */
const amounts = JSON.parse(process.argv[2]);

serveCommands({ measure: () => measureTeamsAndWorkflows(amounts) });
