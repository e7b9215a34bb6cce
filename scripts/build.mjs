import { withNewEnoughNode } from './lib/node-version.mjs';

withNewEnoughNode(() => import('./commands/build.mjs').then((command) => command.run()));
