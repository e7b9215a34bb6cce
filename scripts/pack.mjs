import { bundleDeclarations } from './lib/declarations.mjs';
import { ensureBuilt, root } from './lib/setup.mjs';

// Before `npm pack` and `npm publish`: the next build links the declarations again.
await ensureBuilt();
await bundleDeclarations(`${root}packages/runyard`);
