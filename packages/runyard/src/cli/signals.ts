/** Ctrl-C under npm reaches this process twice, from the terminal and from npm: that is one request, not two. */
const sameWishMs = 400;
const parentCheckMs = 250;

/**
 * Calls `stop` at the first signal to end, or when npm is gone: npm and npx pass signals to a shell that dies of them
 * without telling its child. A second signal ends the process at once.
 */
export function stopOnSignals(stop: () => void): void {
  let askedAt: number | undefined;
  const ask = () => {
    if (askedAt === undefined) {
      askedAt = performance.now();
      stop();
    } else if (performance.now() - askedAt > sameWishMs) process.exit(1);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ask);
  if (process.env.npm_command !== undefined) whenParentIsGone(ask);
}

function whenParentIsGone(act: () => void): void {
  const parent = process.ppid;
  const check = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(check);
    act();
  }, parentCheckMs);
  check.unref();
}
