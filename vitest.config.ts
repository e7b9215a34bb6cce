import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { patience } from './packages/runyard/test/support/patience.js';
import { compiledFiles, compiledSources } from './scripts/lib/compiled-sources.mjs';
import { CountReporter } from './scripts/lib/count-reporter.mjs';
import { compilerMemory } from './scripts/lib/setup.mjs';
import { WaitingTestsBetween } from './scripts/lib/waiting-tests-between.mjs';

const source = (file: string) => fileURLToPath(new URL(`./packages/runyard/src/${file}`, import.meta.url));
const watched = !process.argv.includes('run');
const counts = process.env.RUNYARD_TEST_COUNTS;

/** V8 renames its flags, and Node does not start with one that it does not know. */
const isKnownToNode = (flag: string) => spawnSync(process.execPath, [flag, '-e', '0']).status === 0;

/** Tests that need a process of their own: one looks at what is loaded, one fills the memory and the environment. */
const apart = [
  'packages/runyard/test/conformance/lean-start.test.ts',
  'packages/runyard/test/fuzz/**/*.test.ts',
];

export default defineConfig({
  resolve: {
    // Examples and snippets import the package by its name; tests run them against what else they import.
    alias: [
      { find: /^runyard$/, replacement: source('index.ts') },
      {
        find: /^runyard\/(models|tools|guardrails|knowledge|evals|interfaces|testing)$/,
        replacement: source('$1.ts'),
      },
    ],
  },
  plugins: watched ? [] : [compiledSources()],
  test: {
    server: { deps: { external: [compiledFiles] } },
    globalSetup: 'packages/runyard/test/support/test-run.ts',
    pool: 'forks',
    // Tests call a function a few times: to optimise it takes longer than that saves, also in WebAssembly. The cores are
    // busy with other tests: threads that share the collection of garbage only wait for each other.
    execArgv: ['--interrupt-budget=500000', '--liftoff-only', '--single-threaded-gc'].filter(isKnownToNode),
    env: compilerMemory,
    // More than twice the cores that CI has: the tests that kill processes mostly wait.
    maxWorkers: 6,
    sequence: { sequencer: WaitingTestsBetween },
    // A net for what hangs: nothing that a test waits for may be called slow before it.
    testTimeout: patience(300_000),
    hookTimeout: patience(300_000),
    expect: { poll: { timeout: patience() } },
    reporters: counts ? ['default', new CountReporter(counts)] : ['default'],
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          // They leave nothing behind in their process: what they import, and what they compile of the API's
          // description, is loaded once for all of them.
          isolate: false,
          include: [
            'packages/runyard/{src,test}/**/*.test.ts',
            'packages/{client,console}/test/**/*.test.{ts,tsx}',
            'scripts/**/*.test.mjs',
            'examples/**/*.test.ts',
          ],
          exclude: [...apart, '**/node_modules/**'],
        },
      },
      {
        extends: true,
        test: {
          name: 'apart',
          include: apart,
        },
      },
    ],
  },
});
