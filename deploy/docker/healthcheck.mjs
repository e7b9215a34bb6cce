// Whether the process lives, for Docker: 0 if the probe port answers, else 1. The image has no shell and no curl.
const port = process.env.RUNYARD_PROBE_PORT ?? '7778';
try {
  const { ok } = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(4_000) });
  process.exit(ok ? 0 : 1);
} catch {
  process.exit(1);
}
