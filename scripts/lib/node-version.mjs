// Kept to syntax that old versions of Node can parse, so that they can say that they are too old.
const needed = 20;

/** Runs a command if this Node is new enough, and says so in one line if it is not. */
export function withNewEnoughNode(run) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= needed) return run();
  console.error(`Runyard needs Node ${needed} or newer; this is Node ${process.versions.node}.`);
  process.exit(1);
}
