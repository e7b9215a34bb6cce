import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/lib/setup.mjs';
import { freePort, isHealthy } from '../lib/ports.mjs';
import { median } from '../lib/statistics.mjs';

const bareServer = `require('node:http').createServer((request, response) => response.end('{"status":"ok"}'))
  .listen(Number(process.argv[1]), '127.0.0.1')`;

/** A service keeps its compiled code, which later starts use, once it has had little to do for two seconds, or after ten. */
const keepingMs = 12_000;

/**
 * From the start of the process until /health answers: a bare server, a new data folder, and an existing one. Only the
 * first start of an installation has no compiled code; it is not measured.
 */
export async function compareColdStarts(folder, rounds) {
  await keepCode(mkdtempSync(join(folder, 'start-')));
  const samples = { bare: [], fresh: [], existing: [] };
  for (let round = 0; round < rounds; round += 1) {
    const dataDir = mkdtempSync(join(folder, 'start-'));
    samples.bare.push(await startOnce((port) => ['-e', bareServer, port]));
    samples.fresh.push(await startOnce((port) => commandLine(port, dataDir)));
    samples.existing.push(await startOnce((port) => commandLine(port, dataDir)));
  }
  return { bare: median(samples.bare), fresh: median(samples.fresh), existing: median(samples.existing) };
}

function commandLine(port, dataDir) {
  const words = ['start', join(root, 'examples/quickstart/agents.ts'), '--port', port, '--data-dir', dataDir];
  return [join(root, 'packages/runyard/bin/runyard.mjs'), ...words];
}

/** With more certificates, Node 20 takes longer for its own start than the bare server for all of its. */
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;

async function keepCode(dataDir) {
  const { stop } = await started((port) => commandLine(port, dataDir));
  await new Promise((resolve) => setTimeout(resolve, keepingMs));
  await stop();
}

async function startOnce(words) {
  const { ms, stop } = await started(words);
  await stop();
  return ms;
}

/** Starts a process, and resolves when it answers. */
async function started(words) {
  const port = await freePort();
  const begun = performance.now();
  const child = spawn(process.execPath, words(String(port)), { stdio: 'ignore', env });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  while (!(await isHealthy(port))) {
    if (child.exitCode !== null) throw new Error(`a server ended with code ${child.exitCode} at its start`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return { ms: performance.now() - begun, stop };
}
