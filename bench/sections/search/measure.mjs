import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { memory } from '../../lib/commands.mjs';
import { median, percentile } from '../../lib/statistics.mjs';
import { clustered, embedded, textOf } from './dataset.mjs';

const dist = '../../../packages/runyard/dist';
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const perContent = 1_000;
const perStage = 500;
/** Searches of each kind before those that count: what the very first one costs is a column of its own. */
const warmUp = 25;
/** The median of the rounds counts, as in the other sections. */
const rounds = 5;
const knowledgeId = 'bench';
const embedder = 'bench:model';

/**
 * Searches over many chunks: times, what they find of what comparing all vectors finds, how long they keep other work
 * waiting, and the memory of the bits.
 */
export async function measureSearch({ url, chunks, dimensions, searches, offline }) {
  const { store, database } = await open(url);
  try {
    const data = offline ? await offlineData(dimensions) : clustered(dimensions);
    const began = performance.now();
    await fill(store, chunks, data);
    const fillSeconds = (performance.now() - began) / 1000;
    if (url.startsWith('postgres')) await settle(url);
    const queries = await Promise.all(Array.from({ length: searches }, (_, at) => data.query(at)));
    // statements and code that every search needs belong to no knowledge base
    await store.search('none', { type: 'vector', vector: queries[0], text: '', limit: 10, embedder });
    const before = await memory();
    const firstMs = await timed(() => search(store, 'vector', queries[0]));
    const after = await memory();
    const memoryMiB = (after.external - before.external) / 2 ** 20;
    const residentMiB = (after.rss - before.rss) / 2 ** 20;
    const exact = await exactly(data, chunks, queries);
    const kinds = {
      vector: (at) => search(store, 'vector', queries[at]),
      'vector, filter 1 in 100': (at) => search(store, 'vector', queries[at], '', { group: at % 100 }),
      'vector, filter 1 in 2': (at) => search(store, 'vector', queries[at], '', { half: at % 2 }),
      keyword: (at) => search(store, 'keyword', undefined, data.queryText(at)),
      hybrid: (at) => search(store, 'hybrid', queries[at], data.queryText(at)),
    };
    const rows = [];
    for (const [kind, run] of Object.entries(kinds)) {
      for (let at = 0; at < warmUp; at++) await run(at % searches);
      const delay = monitorEventLoopDelay({ resolution: 1 });
      const cpu = process.cpuUsage();
      delay.enable();
      const times = Array.from({ length: rounds }, () => []);
      let found = 0;
      for (const round of times)
        for (let at = 0; at < searches; at++) {
          let results;
          round.push(
            await timed(async () => {
              results = await run(at);
            }),
          );
          // a search without a pause of its own would hide how long it keeps others waiting
          await nextTurn();
          if (kind === 'vector')
            for (const { metadata } of results) if (exact[at].has(metadata.at)) found += 1;
        }
      delay.disable();
      const { user, system } = process.cpuUsage(cpu);
      const ofRounds = (part) => median(times.map((round) => percentile(round, part)));
      rows.push({
        kind,
        p50: ofRounds(50),
        p95: ofRounds(95),
        cpu: (user + system) / 1000 / rounds / searches,
        pause: delay.max / 1e6,
        ...(kind === 'vector' && { recall: found / (10 * rounds * searches) }),
      });
    }
    const { description } = store;
    return { description, chunks, dimensions, fillSeconds, firstMs, memoryMiB, residentMiB, rows };
  } finally {
    await database.close();
  }
}

async function open(url) {
  const [{ openDatabase }, { migrate }, { builtInVectorStore }, { migrations }, { knowledgeSearch }] =
    await Promise.all(
      [
        'platform/storage/open.js',
        'platform/storage/migrations/migrate.js',
        'capabilities/knowledge/chunks/built-in-vector-store.js',
        'capabilities/capabilities.js',
        'capabilities/knowledge/migrations/0017-knowledge-search.js',
      ].map((path) => import(`${dist}/${path}`)),
    );
  const all = migrations.includes(knowledgeSearch) ? migrations : [...migrations, knowledgeSearch];
  const database = await openDatabase({ id: 'bench', url, migrations: all, log: silent });
  await migrate(database);
  return { database, store: builtInVectorStore(database, silent) };
}

async function offlineData(dimensions) {
  const { offlineEmbedder } = await import(`${dist}/core/embedders/offline.js`);
  const offline = offlineEmbedder({ dimensions });
  const query = (at) =>
    textOf(5_000_000 + at)
      .split(' ')
      .slice(0, 8)
      .join(' ');
  return {
    batch: (at, count) => embedded(offline, at, count),
    query: async (at) => (await offline.embed([query(at)])).vectors[0],
    queryText: query,
    textOf,
  };
}

function vectorsOf(data, at, count) {
  return data.batch?.(at, count) ?? Array.from({ length: count }, (_, index) => data.vectorOf(at + index));
}

async function fill(store, chunks, data) {
  for (let start = 0; start < chunks; start += perContent) {
    const version = { knowledgeId, contentId: `content-${start}`, generation: 'first' };
    const end = Math.min(chunks, start + perContent);
    for (let from = start; from < end; from += perStage) {
      const count = Math.min(perStage, end - from);
      const vectors = await vectorsOf(data, from, count);
      const staged = vectors.map((vector, index) => {
        const at = from + index;
        const metadata = { at, group: at % 100, half: at % 2 };
        return { position: at - start, name: null, content: data.textOf(at), metadata, vector };
      });
      await store.stage(version, staged, embedder);
    }
    await store.publish(version);
  }
}

/** Does at once what PostgreSQL does beside the searches in the minutes after a bulk load, on the same cores. */
async function settle(url) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('VACUUM ANALYZE');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

function search(store, type, vector, text = '', contained = undefined) {
  const filter = contained && { op: 'CONTAINED', value: contained };
  return store.search(knowledgeId, { type, vector, text, limit: 10, filter, embedder });
}

/** The numbers of the ten nearest chunks of each query, by comparing all. */
async function exactly(data, chunks, queries) {
  const best = queries.map(() => []);
  for (let from = 0; from < chunks; from += perStage) {
    const vectors = await vectorsOf(data, from, Math.min(perStage, chunks - from));
    for (const [index, vector] of vectors.entries()) {
      const length = norm(vector);
      for (const [place, query] of queries.entries()) {
        const list = best[place];
        let similarity = 0;
        for (let at = 0; at < vector.length; at++) similarity += vector[at] * query[at];
        similarity /= length;
        if (list.length === 10 && similarity <= list[9].similarity) continue;
        list.push({ similarity, at: from + index });
        list.sort((one, other) => other.similarity - one.similarity);
        list.length = Math.min(10, list.length);
      }
    }
  }
  return best.map((list) => new Set(list.map(({ at }) => at)));
}

function norm(vector) {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
