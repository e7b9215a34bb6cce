import type { Command } from 'commander';
import type { Application } from './application.js';

/** The flags that override settings, by the name of their setting. */
export interface SettingFlags {
  readonly host?: string;
  readonly port?: string;
  readonly dataDir?: string;
  readonly database?: string;
  readonly redis?: string;
  readonly logLevel?: string;
  readonly logFormat?: string;
  readonly config?: string;
}

export function addSettingFlags(command: Command): Command {
  return command
    .option('--host <address>', 'address to listen on')
    .option('--port <number>', 'port to listen on; 0 selects a free one')
    .option('--data-dir <folder>', 'folder of the embedded database')
    .option('--database <url>', 'database URL, such as postgres://user:password@host/name')
    .option('--redis <url>', 'Redis URL, such as redis://user:password@host:6379/0')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .option('--log-format <format>', 'auto, pretty or json')
    .option('--config <file>', 'settings file (default: runyard.json, if it exists)');
}

/** Hands the command line, the environment and the settings file to the application. */
export function configure(application: Application, flags: SettingFlags): void {
  const { config, host, port, dataDir, database, redis, logLevel, logFormat } = flags;
  application.configure({
    ...(config === undefined ? {} : { file: config }),
    env: process.env,
    flags: { host, port, dataDir, database, redis, logLevel, logFormat },
    cwd: process.cwd(),
  });
}

/** The same flags as words of a command line. */
export function flagWords(flags: SettingFlags): string[] {
  return Object.entries(flags).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`, String(value)],
  );
}
