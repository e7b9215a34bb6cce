import { oneRound } from './load.mjs';

/** Memory of one open stream on which nothing happens: the connection, and with Runyard a live run too. */
export async function measureIdleStreams(load, server, count) {
  // What the first streams make the server allocate for good must not be counted.
  await oneRound(
    load,
    server,
    { agentId: 'plain', stream: true, callers: 32 },
    { runs: 500, milliseconds: 3000 },
  );
  const before = await server.ask('memory');
  await load.ask('openStreams', { port: server.port, count });
  const after = await server.ask('memory');
  await server.ask('release');
  await load.ask('streamsEnded');
  const perStream = (name) => (after[name] - before[name]) / count / 1024;
  return { heapKiB: perStream('heap') + perStream('external'), rssKiB: perStream('rss') };
}
