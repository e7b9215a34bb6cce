import { withNewEnoughNode } from './lib/node-version.mjs';

withNewEnoughNode(() => import('./commands/start.mjs').then((command) => command.run(process.argv.slice(2))));
