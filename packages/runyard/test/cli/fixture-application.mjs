import { createServer } from 'node:http';
import { loadSettings } from '../../dist/platform/settings/config.js';

/** What the commands need of a Runyard and nothing else, so that their tests tell about the commands alone. */
export class FixtureApplication {
  [Symbol.for('runyard.app')] = true;
  #sources = {};
  #server;

  constructor(options = {}) {
    this.options = options;
  }

  configure(sources) {
    this.#sources = sources;
  }

  get settings() {
    return loadSettings({ code: this.options.settings, ...this.#sources }).settings;
  }

  async listen() {
    const { host, port } = this.settings;
    this.#server = createServer((_request, response) => response.end(this.options.answer ?? 'hello'));
    await new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, resolve);
    });
    const address = this.#server.address();
    const url = `http://${host}:${address.port}`;
    const interfaces = this.options.interfaces?.map((type) => ({ type, url: `${url}/${type}` }));
    return { url, port: address.port, interfaces };
  }

  async openapi() {
    return { openapi: '3.1.0', info: { title: this.settings.name, version: '1' }, paths: {} };
  }

  async migrate({ to, database, dryRun, force }) {
    if (dryRun) {
      const planned = { version: 1, name: '0001-foundation', direction: 'up', status: 'planned', ms: 0 };
      const losses = [{ table: 'runs', rows: 2, more: false }];
      return [
        { database: 'main', losses, results: [{ ...planned, sql: ['CREATE TABLE runs (id integer)'] }] },
      ];
    }
    if (to === 0 && !force) throw new Error('Migrating deletes data');
    const status = this.options.failingMigration ? 'failed' : 'done';
    const result = {
      version: to ?? 1,
      name: '0001-foundation',
      direction: 'up',
      status,
      error: new Error('no space'),
      ms: 3,
    };
    return [{ database: database ?? 'main', results: [result] }];
  }

  async schemaStatus() {
    return [
      {
        database: 'main',
        status: { current: 0, latest: 1, pending: [{ version: 1, name: '0001-foundation' }] },
      },
    ];
  }

  async close() {
    console.log('closing');
    if (this.options.neverCloses) return new Promise(() => {});
    this.#server?.close();
    this.#server?.closeAllConnections();
  }
}
