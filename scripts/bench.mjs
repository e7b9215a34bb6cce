import { withNewEnoughNode } from './lib/node-version.mjs';

withNewEnoughNode(() => import('./commands/bench.mjs').then((command) => command.run(process.argv.slice(2))));
