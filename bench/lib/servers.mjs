import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { startProcess } from './processes.mjs';

/** How to start the bare server and Runyard on each database, with the same durability. */
export const databases = {
  sqlite: { title: 'SQLite', synchronous: 'FULL', durability: 'power-cut' },
  crash: { title: 'SQLite, process-crash', synchronous: 'NORMAL', durability: 'process-crash' },
  postgres: { title: 'PostgreSQL' },
};

/** Starts servers that ask the given model server and store in the folder or in PostgreSQL. */
export function serverStarter({ modelPort, folder, postgresUrl, profileFolder }) {
  const bare = (database, { via } = {}) => {
    const { synchronous } = databases[database];
    const store =
      database === 'postgres'
        ? { kind: 'postgres', url: postgresUrl }
        : { kind: 'sqlite', path: join(newFolder(), 'bare.db'), synchronous };
    return start('bare-server', { modelPort, via, store });
  };
  /** `given`: settings that are not the default, a port, or the folder of a server that is no more. */
  const runyard = (database, given = {}) => {
    const { durability } = databases[database];
    const place = database === 'postgres' ? { database: postgresUrl } : { durability };
    const profile = ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`];
    const settings = { modelPort, dataDir: newFolder(), ...place, ...given };
    return start('runyard-server', settings, profileFolder && given.files === undefined ? profile : []);
  };
  const newFolder = () => mkdtempSync(join(folder, 'server-'));
  return { bare, runyard, newFolder };
}

async function start(script, settings, execArgv) {
  const server = await startProcess(script, settings, execArgv);
  return { ...server, port: await server.ask('port') };
}
