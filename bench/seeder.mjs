import { serveCommands } from './lib/commands.mjs';
import { seedDatabase } from './seed/seed-database.mjs';

const place = JSON.parse(process.argv[2]);
serveCommands({ seed: () => seedDatabase(place) });
