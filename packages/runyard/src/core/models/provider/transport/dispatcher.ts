/** What sends requests below `fetch`, with its pools of connections. */
export interface Dispatcher {
  dispatch(request: DispatchedRequest, handler: DispatchHandler): unknown;
}

interface DispatchedRequest {
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly headersTimeout: number;
  readonly bodyTimeout: number;
}

/** What a dispatcher reports. `false` asks it to wait until `resume` is called. */
export interface DispatchHandler {
  onConnect(abort: (reason?: Error) => void): void;
  onHeaders(status: number, raw: readonly Uint8Array[], resume: () => void, statusText: string): boolean;
  onData(bytes: Uint8Array): boolean;
  onComplete(): void;
  onError(error: Error): void;
}
