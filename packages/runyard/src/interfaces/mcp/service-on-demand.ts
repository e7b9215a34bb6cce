import type { Admission } from './admission.js';
import type { McpService } from './mcp-service.js';

declare module '../../capabilities/capability.js' {
  interface Services {
    readonly mcp: ServiceOnDemand;
  }
}

interface OpenService {
  readonly service: McpService;
  close(): Promise<void>;
}

/** The service of the endpoint, opened when the first caller is admitted: most starts of a service see none. */
export class ServiceOnDemand {
  #opening: Promise<OpenService> | undefined;

  constructor(
    readonly admission: Admission,
    private readonly open: () => Promise<OpenService>,
  ) {}

  async service(): Promise<McpService> {
    this.#opening ??= this.open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return (await this.#opening).service;
  }

  /** Opens nothing that is not open. */
  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.close();
  }
}
