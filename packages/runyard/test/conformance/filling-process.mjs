// Fills an empty SQLite database with a schema whose last statement never ends. It is killed in the middle of that.
import { writeSync } from 'node:fs';

const built = (path) => import(new URL(`../../dist/${path}`, import.meta.url));
const { migrations } = await built('capabilities/capabilities.js');
const { openDatabase } = await built('platform/storage/open.js');
const { migrate } = await built('platform/storage/migrations/migrate.js');

const [url] = process.argv.slice(2);
const log = { debug() {}, info() {}, warn() {}, error() {} };
const endless = {
  version: migrations.length + 1,
  name: 'endless',
  up: () => [
    `CREATE TABLE counted AS
       WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
       SELECT count(*) AS amount FROM numbers`,
  ],
  down: () => [],
};
const database = await openDatabase({ id: 'test', url, migrations, log });
writeSync(1, 'opened\n');
await migrate(database, { available: [...migrations, endless] });
