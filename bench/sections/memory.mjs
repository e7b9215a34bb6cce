/** Memory of one open stream on which nothing happens: a live run and its reader here, a connection there. */
export async function measureIdleStreams({ bare, runyard, load }, count) {
  const results = {};
  for (const [name, server] of Object.entries({ bare, runyard })) {
    results[name] = await idleStreams(server, load, count);
  }
  return results;
}

async function idleStreams(server, load, count) {
  const before = await server.ask('memory');
  await load.ask('openStreams', { port: server.port, count });
  const after = await server.ask('memory');
  await server.ask('release');
  await load.ask('streamsEnded');
  const perStream = (name) => (after[name] - before[name]) / count / 1024;
  return { heapKiB: perStream('heap'), externalKiB: perStream('external'), rssKiB: perStream('rss') };
}
