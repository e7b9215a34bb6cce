import { defaultsOf, type SettingsOf } from '../settings/setting.js';
import { limitSettings } from './limit-settings.js';

type Limits = SettingsOf<typeof limitSettings>;

/** The settings that the HTTP platform reads. The service's `Settings` satisfies it. */
export interface HttpSettings extends Omit<Limits, 'fetchAllowedHosts' | 'fetchTimeoutMs'> {
  /** The address that the service listens on; left out where another server listens. */
  readonly host?: string;
  /** Origins whose pages may call from a browser; `*` is dropped. Left out: development servers. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** The largest body without files. */
  readonly maxBodyBytes: number;
  /** The largest body with files. */
  readonly maxUploadBytes: number;
  /** The same for a form whose files are stored while they arrive. */
  readonly maxStreamedBytes: number;
  readonly maxFiles: number;
  readonly maxFields: number;
  /** After how much silence a stream sends a sign of life. */
  readonly heartbeatMs: number;
}

export const defaultHttpSettings: HttpSettings = {
  ...defaultsOf(limitSettings),
  maxBodyBytes: 1_048_576,
  maxUploadBytes: 52_428_800,
  maxStreamedBytes: 1_073_741_824,
  maxFiles: 20,
  maxFields: 200,
  heartbeatMs: 15_000,
};
