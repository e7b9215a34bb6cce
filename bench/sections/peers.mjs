import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { instructions } from '../lib/answer.mjs';
import { freePort } from '../lib/ports.mjs';
import { median } from '../lib/statistics.mjs';
import { startMetered } from '../peers/metered-process.mjs';
import { peers, provided } from '../peers/peers.mjs';
import { oneRound } from './load.mjs';

const shapes = [
  { key: 'one', agentId: 'plain', stream: false, callers: 1 },
  { key: 'many', agentId: 'plain', stream: false, callers: 32 },
  { key: 'streams', agentId: 'plain', stream: true, callers: 32 },
];

const settleMs = 3000;

/**
 * Runyard and its peers under the same load, from the same callers, with the same model server, in turns. Each is started
 * as its own documentation says, with the storage of a new project. Memory is what the operating system reports of all
 * processes of the server.
 */
export async function measurePeers(
  { load, modelPort, folder },
  { rounds, milliseconds, warmUpMs, starts },
  say,
) {
  const all = [];
  for (const peer of peers) {
    const place = await provided(peer, say);
    const open = () => startPeer(peer, place.folder, { modelPort, folder });
    say(`${peer.name} ${place.version}: starting`);
    const startMs = [];
    for (let start = 0; start < starts; start += 1) {
      const server = await open();
      startMs.push(server.startMs);
      await server.stop();
    }
    const server = await open();
    await settled();
    all.push({ peer, server, version: place.version, startMs, idle: await server.resident(), samples: {} });
  }
  for (const { peer, server } of all) {
    say(`${peer.name}: warming up`);
    for (const shape of shapes.slice(1)) await ofPeer(load, peer, server, shape, warmUpMs);
  }
  for (let round = 0; round < rounds; round += 1) {
    say(`peers: round ${round + 1} of ${rounds}`);
    for (const shape of shapes)
      for (const { peer, server, samples } of all) {
        samples[shape.key] ??= [];
        samples[shape.key].push(await ofPeer(load, peer, server, shape, milliseconds));
      }
  }
  await settled();
  const rows = [];
  for (const { peer, server, version, startMs, idle, samples } of all) {
    rows.push({
      what: `${peer.name} ${version}`,
      storage: peer.storage,
      startMs: median(startMs),
      idleMiB: idle / 2 ** 20,
      loadedMiB: (await server.resident()) / 2 ** 20,
      ...Object.fromEntries(shapes.map(({ key }) => [key, summary(samples[key])])),
    });
    await server.stop();
  }
  return rows;
}

async function startPeer(peer, cwd, { modelPort, folder }) {
  const dataFolder = mkdtempSync(join(folder, 'peer-'));
  // what a server keeps beside its files is of the server before
  rmSync(join(cwd, '.langgraph_api'), { recursive: true, force: true });
  const port = await freePort();
  const env = {
    ...peer.env,
    MODEL_URL: `http://127.0.0.1:${modelPort}/plain/v1`,
    INSTRUCTIONS: instructions,
    DATA_FOLDER: dataFolder,
  };
  const { healthPath } = peer;
  return startMetered({ words: peer.start({ port, dataFolder }), folder: cwd, env, port, healthPath });
}

function ofPeer(load, { way: over }, server, shape, milliseconds) {
  return oneRound(load, server, { ...shape, over }, { runs: Number.MAX_SAFE_INTEGER, milliseconds });
}

function summary(rounds) {
  return {
    cpuMs: median(rounds.map(({ cpuPerRun }) => cpuPerRun / 1000)),
    perSecond: median(rounds.map(({ runs, seconds }) => runs / seconds)),
  };
}

function settled() {
  return new Promise((resolve) => setTimeout(resolve, settleMs));
}
