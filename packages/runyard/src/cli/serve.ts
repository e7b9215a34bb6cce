import { relative } from 'node:path';
import { authMode } from '../platform/auth/tokens/settings.js';
import type { Settings } from '../platform/settings/config.js';
import { databaseLabel } from '../platform/settings/config-faults.js';
import { version } from '../platform/version.js';
import type { Listening } from '../runyard-options.js';
import type { Application } from './application.js';
import { findEntry, loadEntry, requiredFiles } from './load-entry.js';
import { configure, type SettingFlags } from './setting-flags.js';
import { stopOnSignals } from './signals.js';

/** What a supervising `runyard dev` says to the server that it started. */
export interface StopRequest {
  readonly type: 'stop';
  readonly graceMs: number;
}

export interface ListeningNotice {
  readonly type: 'listening';
  readonly port: number;
}

/** A file that the entry imports: its changes matter. */
export interface ImportNotice {
  readonly type: 'imported';
  readonly path: string;
}

export async function serve(entry: string | undefined, flags: SettingFlags): Promise<void> {
  const supervisor = process.send?.bind(process);
  const report =
    supervisor && ((path: string) => supervisor({ type: 'imported', path } satisfies ImportNotice));
  const application = await loadEntry(findEntry(entry), report);
  configure(application, flags);
  const { settings } = application;
  stopOnRequest(application);
  const listening = await application.listen({ ownsProcess: true });
  process.stdout.write(banner(listening, settings));
  if (report) for (const path of requiredFiles()) report(path);
  process.send?.({ type: 'listening', port: listening.port } satisfies ListeningNotice);
}

/** The application may bring an older copy of the package, which names no interfaces or gives them no title. */
function banner(
  { url, probeUrl, interfaces = [] }: Partial<Listening> & { url: string },
  settings: Settings,
): string {
  const embedded = settings.database.startsWith('sqlite:');
  const data = embedded
    ? shortPath(settings.database.replace('sqlite://', ''))
    : databaseLabel(settings.database);
  const rows: [label: string, place: string | undefined][] = [
    ['Console', settings.console ? `${url}/console` : undefined],
    ['API', url],
    ['Docs', settings.docs ? `${url}/docs${docsAccess(settings)}` : undefined],
    ...interfaces.map(({ type, title = type.toUpperCase(), url: at }): [string, string] => [title, at]),
    ['Probe', probeUrl],
    ['Data', data],
  ];
  const shown = rows.filter(([, place]) => place !== undefined);
  const width = Math.max(5, ...shown.map(([label]) => label.length));
  const lines = shown.map(([label, place]) => `  ${label.padEnd(width)} ${place}\n`);
  return `${settings.name} is up (Runyard ${version})\n${lines.join('')}`;
}

/** A browser sends no token with an address that is typed in. */
function docsAccess(settings: Settings): string {
  const mode = authMode(settings);
  if (mode === 'none' || settings.publicPaths.includes('/docs')) return '';
  const token = mode === 'jwt' ? 'a token' : 'the security key';
  return ` (needs ${token} as "Authorization: Bearer …"; publicPaths: ["/docs"] opens the page)`;
}

function shortPath(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}

/** Stops gracefully, once, on a signal or at the request of the `runyard dev` that started this server. */
function stopOnRequest(application: Application): void {
  let stopping = false;
  const stop = (graceMs?: number) => {
    if (stopping) return;
    stopping = true;
    application.close(graceMs === undefined ? undefined : { graceMs }).then(
      () => process.exit(0),
      (error: unknown) => {
        console.error('The service did not stop cleanly:', error);
        process.exit(1);
      },
    );
  };
  stopOnSignals(() => stop());
  process.on('message', (message: StopRequest | null) => {
    if (message?.type === 'stop') stop(message.graceMs);
  });
  // Only a supervised server has a channel: when it closes, the supervisor is gone.
  process.on('disconnect', () => stop());
}
