import { type Database, statement, timedStatement } from '../../platform/storage/database.js';
import type { SlackInstallationsTable } from './tables.js';

/** A workspace, or an organisation, that has installed the app. */
export interface StoredInstallation {
  readonly ownerId: string;
  readonly name: string;
  readonly botUserId: string;
  readonly sealedToken: string;
  readonly scopes: string;
  readonly installedBy: string;
}

const put = timedStatement(
  'put_slack_installation',
  (now) => `
    INSERT INTO slack_installations
      (mount, owner_id, name, bot_user_id, sealed_token, scopes, installed_by, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ${now}, ${now})
    ON CONFLICT (mount, owner_id) DO UPDATE SET name = excluded.name, bot_user_id = excluded.bot_user_id,
      sealed_token = excluded.sealed_token, scopes = excluded.scopes, installed_by = excluded.installed_by,
      updated_at = excluded.updated_at`,
);
const read = statement(
  'slack_installation',
  'SELECT * FROM slack_installations WHERE mount = ? AND owner_id = ?',
);
const remove = statement(
  'remove_slack_installation',
  'DELETE FROM slack_installations WHERE mount = ? AND owner_id = ? AND sealed_token = ?',
);

/** The workspaces that have installed the app. */
export class InstallationStore {
  constructor(private readonly database: Database) {}

  async put(mount: string, installed: StoredInstallation): Promise<void> {
    const { ownerId, name, botUserId, sealedToken, scopes, installedBy } = installed;
    await this.database.change(put, [mount, ownerId, name, botUserId, sealedToken, scopes, installedBy]);
  }

  async find(mount: string, ownerId: string): Promise<StoredInstallation | undefined> {
    const [row] = await this.database.read<SlackInstallationsTable>(read, [mount, ownerId]);
    return (
      row && {
        ownerId: row.owner_id,
        name: row.name,
        botUserId: row.bot_user_id,
        sealedToken: row.sealed_token,
        scopes: row.scopes,
        installedBy: row.installed_by,
      }
    );
  }

  /** Only with this token: another one is that of a later installation. */
  async remove(mount: string, ownerId: string, sealedToken: string): Promise<void> {
    await this.database.change(remove, [mount, ownerId, sealedToken]);
  }
}
