import { withNewEnoughNode } from './lib/node-version.mjs';

withNewEnoughNode(() => import('./commands/check.mjs').then((command) => command.run(process.argv.slice(2))));
