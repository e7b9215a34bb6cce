import { Command, InvalidArgumentError } from 'commander';
import { version } from '../platform/version.js';
import { CommandFailure, describeFailure, notCompared, usageError } from './failure.js';
import { addSettingFlags } from './setting-flags.js';

const examples = `
Examples:
  runyard init my-agents          create a new project in the folder my-agents
  runyard dev                     serve agents.ts and restart when a file changes
  runyard start --port 8080       serve on another port
  runyard migrate --status        show the pending migrations of each database
  runyard replay                  check that unfinished runs match the code
  runyard eval                    execute the evals of all *.eval.ts files
  runyard knowledge reembed       embed contents anew after the embedder changed
  runyard export                  write components, schedules and more to files
  runyard import --dry-run        show what the files would change in the service
  runyard openapi --out api.json  write the OpenAPI document to a file
  runyard token --user ada --admin
                                  print a development token

Settings, in order of increasing precedence: defaults, code, runyard.json (or --config), environment (RUNYARD_*, PORT), flags.`;

/** Runs one command line. Faults are printed as one message and end the process with a non-zero code. */
export async function main(words: readonly string[]): Promise<void> {
  // a reader that has seen enough (`| head`) is no fault of the command
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  try {
    await program().parseAsync(words, { from: 'user' });
  } catch (error) {
    console.error(describeFailure(error));
    process.exit(error instanceof CommandFailure ? error.exitCode : 1);
  }
}

function program(): Command {
  const runyard = new Command('runyard')
    .description('Serve AI agents over HTTP.')
    .version(version)
    .showHelpAfterError('(run runyard --help for usage)')
    .addHelpText('after', examples);

  const entry = 'file that exports your Runyard (default: agents.ts, src/agents.ts, …)';
  addSettingFlags(
    runyard.command('dev').description('serve, and restart when a file changes').argument('[entry]', entry),
  )
    // Each command is loaded when it is used, so that starting a server pays for nothing else.
    .action(async (file, flags) => (await import('./develop.js')).develop(file, flags));
  addSettingFlags(runyard.command('start').description('serve').argument('[entry]', entry)).action(
    async (file, flags) => (await import('./serve.js')).serve(file, flags),
  );
  runyard
    .command('init')
    .description('create a new project that is ready to run')
    .argument('[folder]', 'target folder (default: the current folder)')
    .action(async (folder) => (await import('./init/init.js')).init(folder));
  addSettingFlags(
    runyard.command('openapi').description('print the OpenAPI document').argument('[entry]', entry),
  )
    .option('--out <file>', 'write to a file instead of standard output')
    .action(async (file, flags) => (await import('./openapi.js')).openapi(file, flags));
  addMigrate(runyard, entry);
  addReplay(runyard, entry);
  addEval(runyard);
  addKnowledge(runyard, entry);
  addTransfer(runyard, entry);
  addToken(runyard, entry);
  return runyard;
}

function addMigrate(runyard: Command, entry: string): void {
  runyard
    .command('migrate')
    .description('migrate the databases to the latest schema')
    .argument('[entry]', entry)
    .option('--to <version>', 'migrate up or down to this version; 0 removes all tables')
    .option('--database <id>', 'migrate only this registered database')
    .option('--status', 'show pending migrations without running them')
    .option('--dry-run', 'print the SQL without running it')
    .option('--force', 'migrate down even if that deletes data')
    .option('--data-dir <folder>', 'folder of the embedded database')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .option('--config <file>', 'settings file (default: runyard.json, if it exists)')
    .action(async (file, flags) => (await import('./migrate.js')).migrate(file, flags));
}

function addReplay(runyard: Command, entry: string): void {
  runyard
    .command('replay')
    .description('check that unfinished runs match the current code, without executing anything')
    .argument('[entry]', entry)
    .option('--file <file>', 'read the runs from an export instead of the databases')
    .option('--export <file>', 'write the runs to a file instead of comparing them')
    .option('--json', 'print the report as JSON')
    .option('--data-dir <folder>', 'folder of the embedded database')
    .option('--database <url>', 'database URL, such as postgres://user:password@host/name')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .option('--config <file>', 'settings file (default: runyard.json, if it exists)')
    // 1 says that a run does not fit: a command line that is wrong says nothing about runs
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : notCompared))
    .action(async (file, flags) => (await import('./replay.js')).replay(file, flags));
}

function addEval(runyard: Command): void {
  runyard
    .command('eval')
    .description('execute evals, and exit with 1 when one is below its thresholds')
    .argument(
      '[files...]',
      'files, folders or patterns (default: all *.eval.ts, .mts, .js and .mjs files below this folder)',
    )
    .option('--filter <text>', 'only evals with this text in their name or file')
    .option('--concurrency <number>', 'how many runs of an eval to execute at once', wholeNumber(1, 50))
    .option('--iterations <number>', 'how often to execute each case', wholeNumber(1, 100))
    .option('--bail', 'stop after the first eval that does not pass')
    .option('--json <file>', 'write the results as JSON')
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--baseline <file>', 'compare with the results that an earlier --json wrote')
    .option(
      '--fail-on-regression',
      'exit with 1 when something is worse than the baseline by more than chance',
    )
    .option('--significance <level>', 'how likely a difference may be chance, from 0.001 to 0.5', level, 0.05)
    .option('--list', 'list the evals without executing them')
    // 1 says that an eval is below its thresholds
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : usageError))
    .action(async (files, flags) => (await import('./eval/eval.js')).evaluate(files, flags));
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };
}

function level(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0.001 && value <= 0.5) return value;
  throw new InvalidArgumentError('Give a number from 0.001 to 0.5.');
}

function addKnowledge(runyard: Command, entry: string): void {
  runyard
    .command('knowledge')
    .description('maintain knowledge bases')
    .command('reembed')
    .description('embed contents anew that another embedder has embedded')
    .argument('[entry]', entry)
    .option('--knowledge <name>', 'only this knowledge base')
    .option('--data-dir <folder>', 'folder of the embedded database')
    .option('--database <url>', 'database URL, such as postgres://user:password@host/name')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .option('--config <file>', 'settings file (default: runyard.json, if it exists)')
    .action(async (file, flags) => (await import('./knowledge/reembed.js')).reembed(file, flags));
}

function addTransfer(runyard: Command, entry: string): void {
  const kinds = 'components, knowledge, datasets or schedules; several separated by commas';
  const folder = 'folder of the files (default: runyard-export)';
  addServiceFlags(
    runyard
      .command('export')
      .description('write components, knowledge contents, datasets and schedules of a service to files')
      .argument('[folder]', folder)
      .option('--all-versions', 'all versions of components, and not the current ones alone')
      .option('--only <kinds>', kinds)
      .option('--prune', 'remove the files of things that the service does not have'),
    entry,
  ).action(async (target, flags) => (await import('./transfer/export.js')).exportService(target, flags));
  addServiceFlags(
    runyard
      .command('import')
      .description('create and change what the files of an export say')
      .argument('[folder]', folder)
      .option('--dry-run', 'show what would be done')
      .option('--only <kinds>', kinds)
      .option('--prune', 'delete what has no file'),
    entry,
  ).action(async (source, flags) => (await import('./transfer/import.js')).importService(source, flags));
}

/** Which service: one that runs, or the databases of the entry. */
function addServiceFlags(command: Command, entry: string): Command {
  return command
    .option('--entry <file>', entry)
    .option('--url <address>', 'a running service, instead of the databases of the entry')
    .option('--token <token>', 'token for --url (default: RUNYARD_TOKEN)')
    .option('--data-dir <folder>', 'folder of the embedded database')
    .option('--database <url>', 'database URL, such as postgres://user:password@host/name')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .option('--config <file>', 'settings file (default: runyard.json, if it exists)');
}

function addToken(runyard: Command, entry: string): void {
  runyard
    .command('token')
    .description('print a development token, signed with the secret of the service')
    .argument('[entry]', entry)
    .requiredOption('--user <id>', 'user id of the token')
    .option('--scopes <list>', 'scopes of the token, such as agents:run,sessions:read')
    .option('--admin', 'grant the admin scope')
    .option('--expires <time>', 'lifetime, such as 90s, 30m, 8h or 7d', '8h')
    .option(
      '--claim <name=value>',
      'additional claim; JSON values are parsed (repeatable)',
      (one: string, others: string[]) => [...others, one],
      [],
    )
    .option('--config <file>', 'settings file (default: runyard.json, if it exists)')
    .action(async (file, flags) => (await import('./token.js')).token(file, flags));
}
