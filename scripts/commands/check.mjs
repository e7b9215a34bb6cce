import { existsSync, readdirSync } from 'node:fs';
import { build, capture, ensureInstalled, root, runTool } from '../lib/setup.mjs';

/** Runs every check, also after one has failed, and says for each what to fix. */
export async function run() {
  await ensureInstalled();
  const checks = [
    [
      'format and lint',
      () => runTool('@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']),
      'npm run format mends most of it',
    ],
    // The examples are checked against the built package, as its users see it.
    ['build', build, 'mend the types'],
    ...projects().map((project) => [
      `types of ${project}`,
      () => runTool('typescript/bin/tsc', ['-p', `${project}/tsconfig.json`]),
      'mend the types',
    ]),
    [
      'dead code',
      () => runTool('knip/bin/knip.js', ['--no-progress']),
      'remove it, or name it in knip.json if it is an entry',
    ],
    [
      'import directions',
      () => capture(process.execPath, ['scripts/check-imports.mjs']),
      'see docs/architecture.md',
    ],
    [
      'casts',
      () => capture(process.execPath, ['scripts/check-casts.mjs']),
      'remove the cast, or say in a comment why it is safe',
    ],
  ];
  for (const [name, work, hint] of checks) await check(name, work, hint);
}

async function check(name, work, hint) {
  const { code, output } = await work();
  if (code === 0) {
    console.log(`ok      ${name}`);
    return;
  }
  process.exitCode = 1;
  const lines = output.split('\n').filter((line) => !line.startsWith('TSFILE'));
  console.log(`FAILED  ${name} (${hint})\n${lines.join('\n').trimEnd()}`);
}

function projects() {
  const folders = ['packages', 'examples'].flatMap((parent) =>
    readdirSync(root + parent).map((name) => `${parent}/${name}`),
  );
  return ['.', ...folders, 'bench'].filter((folder) => existsSync(`${root}${folder}/tsconfig.json`));
}
