import type { Log } from '../../core/log.js';
import type { Database } from '../../platform/storage/database.js';
import type { AuthorizationServer } from './authorization-server.js';
import type { AuthorizationServerOptions } from './schema.js';

/** Opens authorization servers over the service's own database. */
export class McpOauthService {
  constructor(
    private readonly database: Database,
    private readonly log: Log,
  ) {}

  /** A service without one loads nothing of it. */
  async open(options: AuthorizationServerOptions): Promise<AuthorizationServer> {
    const [{ AuthorizationServer }, { OauthStore }] = await Promise.all([
      import('./authorization-server.js'),
      import('./store.js'),
    ]);
    const { database, log } = this;
    return new AuthorizationServer(new OauthStore(database), options, log, database.shared);
  }
}

export type OpenAuthorizationServer = AuthorizationServer;
