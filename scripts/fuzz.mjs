import { withNewEnoughNode } from './lib/node-version.mjs';

/** By hand there is more time than in every test run, and other values each time. */
process.env.RUNYARD_FUZZ_SECONDS ??= '600';
process.env.RUNYARD_FUZZ_SEED ??= String(Math.floor(Math.random() * 2 ** 32));

withNewEnoughNode(() =>
  import('./commands/test.mjs').then((command) =>
    command.run(['packages/runyard/test/fuzz', ...process.argv.slice(2)]),
  ),
);
