import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';
import { buildConsole } from './console.mjs';
import { linkDeclarations } from './declarations.mjs';
import { oneAtATime } from './one-at-a-time.mjs';

// Progress goes to stderr: stdout belongs to the command, as in `npm run bench -- --json`.

export const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The compiler lives for seconds, a quarter of which it would spend on collecting garbage: it does so only at the size
 * that it would reach anyway.
 */
export const compilerMemory = { GOGC: 'off', GOMEMLIMIT: '2GiB' };

/** Installs the packages when they are missing or not those of the lock file. Ends the process if that fails. */
export async function ensureInstalled() {
  if (!isInstalled()) await oneAtATime(root, install, sayThatItWaits);
}

async function install() {
  // another command may have installed them meanwhile
  if (isInstalled()) return;
  console.error('Installing packages …');
  // Not `npm ci`: it refuses a lock file without the binaries of systems other than the one that wrote it. The lock
  // file decides the versions all the same, and --no-save leaves it as it is. dev is named because of NODE_ENV.
  const words = ['install', '--no-save', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const { code, output } = await runNpm(words);
  if (code !== 0) fail('npm could not install the packages; is its registry reachable?', output);
}

/** Compiles what changed since the last time. Ends the process if it does not compile. */
export async function ensureBuilt() {
  const started = performance.now();
  if (!existsSync(`${root}packages/runyard/bundle`)) console.error('Building …');
  const { code, output } = await build();
  if (code !== 0) fail('The build failed:', output);
  if (output.includes('TSFILE'))
    console.error(`Built in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

function sayThatItWaits(pid) {
  console.error(`Waiting for process ${pid}, which installs or builds …`);
}

/** `threads`: words for the compiler about how many it may use. */
export function build(threads = []) {
  return oneAtATime(root, () => buildAlone(threads), sayThatItWaits);
}

async function buildAlone(threads) {
  linkDeclarations(`${root}packages/runyard`);
  const packages = ['runyard', 'client'].map((name) => `packages/${name}/tsconfig.build.json`);
  const compiled = await compile(['-b', ...packages, '--listEmittedFiles', ...threads]);
  if (compiled.code !== 0) return compiled;
  try {
    await buildConsole();
  } catch (error) {
    return { code: 1, output: `The console could not be built: ${error.message}` };
  }
  try {
    await bundle(`${root}packages/runyard`);
    return compiled;
  } catch (error) {
    return { code: 1, output: `The compiled modules could not be bundled: ${error.message}` };
  }
}

/** Runs the compiler. */
export function compile(words) {
  return runTool('typescript/bin/tsc', words, { env: { ...compilerMemory, ...process.env } });
}

/** Runs a script of an installed package with this Node, and collects what it prints. */
export function runTool(script, words, options) {
  return capture(process.execPath, [`${root}node_modules/${script}`, ...words], options);
}

export function capture(command, words, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, words, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/**
 * Compares the lock file with npm's own note of what it installed. Times of files would mislead here: a checkout
 * resets them.
 */
function isInstalled() {
  const wanted = packagesIn('package-lock.json');
  const present = packagesIn('node_modules/.package-lock.json');
  return Object.entries(wanted).every(([path, { version, optional, link }]) => {
    if (!path.includes('node_modules/') || optional) return true;
    return link ? present[path]?.link === true : present[path]?.version === version;
  });
}

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(root + file, 'utf8')).packages ?? {};
  } catch {
    return {};
  }
}

export function runNpm(words, options = {}) {
  const script = process.env.npm_execpath;
  if (script?.endsWith('.js')) return capture(process.execPath, [script, ...words], options);
  return capture('npm', words, { shell: process.platform === 'win32', ...options });
}

function fail(text, output) {
  const lines = output
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('TSFILE'));
  console.error([text, ...lines.slice(0, 20)].join('\n'));
  process.exit(1);
}
