import type { Caller } from '../../platform/auth/caller.js';
import { authMode } from '../../platform/auth/tokens/settings.js';
import { serviceIdOf } from '../../platform/service-id.js';
import { configSection } from '../../platform/settings/shown-settings.js';
import { version } from '../../platform/version.js';
import type { Fields, ServiceSite } from '../capability.js';
import { manifestPart } from './manifest.js';
import { runCounts } from './run-counts.js';

/** What the service says about itself: its own facts, and the parts of the capabilities. */
export class SystemService {
  constructor(private readonly site: ServiceSite) {}

  /** Whether browsers can be sent to the console. */
  get hasConsole(): boolean {
    return this.site.settings.console;
  }

  home(): Fields {
    const { settings } = this.site;
    return { name: `${settings.name} API`, id: serviceIdOf(settings), version };
  }

  health(): Fields {
    return healthOf(this.site.startedAt);
  }

  ready() {
    return this.site.readiness.report();
  }

  async info(caller: Caller): Promise<Fields> {
    const { settings, slots, infoParts } = this.site;
    const parts = await Promise.all(infoParts.map((part) => part.info?.(caller)));
    return {
      os_id: serviceIdOf(settings),
      name: settings.name,
      product: 'Runyard',
      version,
      agno_version: version,
      mcp: { enabled: false, path: null, oauth: null },
      auth_mode: authMode(settings),
      runs: runCounts(slots),
      ...Object.assign({}, ...parts),
    };
  }

  config(caller: Caller): Fields {
    const { settings, capabilities, infoParts } = this.site;
    const databases = this.site.databases.map(({ id }) => id);
    const sections = capabilities.flatMap(({ section }) =>
      section === undefined ? [] : [[section.name, configSection(section, this.site.databases, settings)]],
    );
    return {
      os_id: serviceIdOf(settings),
      name: settings.name,
      description: settings.description,
      os_database: databases[0],
      databases,
      ...Object.fromEntries(sections),
      interfaces: infoParts.flatMap(({ listed }) => listed ?? []),
      ...Object.assign({}, ...infoParts.map((part) => part.config?.(caller))),
      ...manifestPart(this.site, caller),
    };
  }
}

/** The process lives; whether it can do its work is another question. */
export function healthOf(startedAt: Date): Fields {
  return { status: 'ok', instantiated_at: startedAt.toISOString() };
}
