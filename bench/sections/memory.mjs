import { oneRound } from './load.mjs';

const shape = { agentId: 'plain', stream: true, callers: 32 };
const openAlready = 200;

/**
 * Memory of one open stream on which nothing happens: the connection, and with Runyard a live run too. The server
 * has been under load and has streams open before it is measured: caches that have a bound are full by then, and
 * what is added belongs to the streams.
 */
export async function measureIdleStreams(load, server, count) {
  await oneRound(load, server, shape, { runs: 1500, milliseconds: 4000 });
  await load.ask('openStreams', { port: server.port, count: openAlready });
  const before = await server.ask('memory');
  await load.ask('openStreams', { port: server.port, count });
  const after = await server.ask('memory');
  await server.ask('release');
  await load.ask('streamsEnded');
  const perStream = (name) => (after[name] - before[name]) / count / 1024;
  return { heapKiB: perStream('heap') + perStream('external'), rssKiB: perStream('rss') };
}
