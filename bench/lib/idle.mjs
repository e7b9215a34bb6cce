/** What a server uses while nothing happens: memory after garbage collection, and CPU over some seconds. */
export async function look(server, seconds) {
  const { rss, heap, external } = await server.ask('memory');
  const before = await server.ask('usage');
  const begun = performance.now();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const cpu = (await server.ask('usage')) - before;
  return {
    cpu: cpu / (performance.now() - begun),
    live: (heap + external) / 2 ** 20,
    resident: rss / 2 ** 20,
  };
}
