interface Server {
  readonly url: string;
  readonly port: number;
  /** Ends it as a crash does. May be called more than once. */
  stop(): Promise<void>;
}

export function startPair(
  signal: AbortSignal,
  settings?: Readonly<Record<string, string>>,
): Promise<{ readonly primary: Server; readonly standby: Server }>;
