import { serveCommands } from './lib/commands.mjs';
import { measureEvals } from './sections/evals.mjs';

/** Measures evals in a process in which nothing else happens. */
const amounts = JSON.parse(process.argv[2]);

serveCommands({ measure: () => measureEvals(amounts) });
