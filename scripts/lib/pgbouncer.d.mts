/** PgBouncer in transaction mode before a server. The URL names the same database. */
export function startPgbouncer(
  url: string,
  signal: AbortSignal,
): Promise<{ readonly url: string; stop(): Promise<void> }>;
