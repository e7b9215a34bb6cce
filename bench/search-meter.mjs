import { serveCommands } from './lib/commands.mjs';
import { measureSearch } from './sections/search/measure.mjs';

/** Measures searches of knowledge in a process in which nothing else happens. */
const settings = JSON.parse(process.argv[2]);

serveCommands({ measure: () => measureSearch(settings) });
