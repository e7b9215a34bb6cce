import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/lib/setup.mjs';
import { freePort, isHealthy } from '../lib/ports.mjs';
import { median } from '../lib/statistics.mjs';

const bareServer = `require('node:http').createServer((request, response) => response.end('{"status":"ok"}'))
  .listen(Number(process.argv[1]), '127.0.0.1')`;

/**
 * From the start of the process until /health answers: a bare server, a new data folder, and an existing one. Only the
 * first start of an installation has no compiled code; it is not measured.
 */
export async function compareColdStarts(folder, rounds) {
  await startOnce((port) => commandLine(port, mkdtempSync(join(folder, 'start-'))));
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

/** From the start of a process until it answers. */
async function startOnce(words) {
  const port = await freePort();
  const begun = performance.now();
  const child = spawn(process.execPath, words(String(port)), { stdio: 'ignore', env });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  while (!(await isHealthy(port))) {
    if (child.exitCode !== null) throw new Error(`a server ended with code ${child.exitCode} at its start`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const ms = performance.now() - begun;
  child.kill('SIGTERM');
  await ended;
  return ms;
}
