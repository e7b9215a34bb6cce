import { withNewEnoughNode } from './lib/node-version.mjs';

withNewEnoughNode(() => import('./lib/setup.mjs').then(({ ensureBuilt }) => ensureBuilt()));
