import { row } from '../lib/rows.mjs';
import { manyTimes, RunClient, timed, until } from '../lib/run-client.mjs';
import { databases } from '../lib/servers.mjs';
import { percentile } from '../lib/statistics.mjs';
import { oneRound } from './load.mjs';
import { textOf } from './search/dataset.mjs';

const uploaders = 4;
const shape = { agentId: 'plain', stream: true, callers: 1 };
const warmUp = { runs: 400, milliseconds: 5000 };
/** Of the time until the first token, against the service that does nothing else. */
const mostRatio = 1.5;

/**
 * Markdown pages are uploaded and indexed with the offline embedder: once alone, and once beside one caller who
 * streams runs one after the other.
 */
export async function measureIngest({ load, start }, database, { pages, idleRuns, roundRuns }, say) {
  const { title } = databases[database];
  say(`${title}: ${pages} Markdown pages`);
  const server = await start.runyard(database, { withKnowledge: true });
  const client = new RunClient(server.port, 'plain');
  await oneRound(load, server, shape, warmUp);
  // the first pages load and compile what the others use
  await ingest(server, client, 'warm', Math.ceil(pages / 10));
  const alone = await ingest(server, client, 'alone', pages);
  const firstTokens = async (runs) =>
    (await oneRound(load, server, shape, { runs, milliseconds: 60_000 })).first;
  const idle = await firstTokens(idleRuns);
  let isIngesting = true;
  const ingesting = ingest(server, client, 'beside', pages).finally(() => {
    isIngesting = false;
  });
  const beside = [];
  while (isIngesting) {
    const times = await firstTokens(roundRuns);
    // the last round may have outlived the ingestion
    if (isIngesting || beside.length === 0) beside.push(...times);
  }
  const slowed = await ingesting;
  idle.push(...(await firstTokens(idleRuns)));
  await server.stop();
  const what = `${pages.toLocaleString('en')} Markdown pages`;
  const alike = (name, unit, measured) => row({ what: `${what}: ${name}`, where: title, unit, measured });
  const first = (percent, bound) =>
    row({
      what: `first token of a run beside ${what}, p${percent}`,
      where: title,
      unit: 'ms',
      base: percentile(idle, percent),
      measured: percentile(beside, percent),
      ...bound,
    });
  return [
    alike('indexed', 'pages/s', (pages / alone.milliseconds) * 1000),
    alike('CPU of a page', 'ms', alone.cpuMs / pages),
    alike('indexed beside streamed runs', 'pages/s', (pages / slowed.milliseconds) * 1000),
    first(50, { mostRatio }),
    first(95),
  ];
}

/** From the first upload until all are searched. */
async function ingest(server, client, name, pages) {
  const before = await server.ask('usage');
  const { milliseconds } = await timed(async () => {
    await manyTimes(pages, uploaders, (at) => upload(server.port, `${name}-${at}.md`, pageOf(name, at)));
    const isOver = async () => ((await count(client, 'processing')) === 0 ? true : undefined);
    await until('all pages are indexed', isOver, { everyMs: 200, withinMs: 180_000 });
  });
  const failed = await count(client, 'failed');
  if (failed > 0) throw new Error(`${failed} pages were not indexed`);
  return { milliseconds, cpuMs: ((await server.ask('usage')) - before) / 1000 };
}

async function upload(port, filename, text) {
  const body = new FormData();
  body.set('file', new Blob([text], { type: 'text/markdown' }), filename);
  const answer = await fetch(`http://127.0.0.1:${port}/knowledge/content`, { method: 'POST', body });
  const said = await answer.text();
  if (answer.status !== 202) throw new Error(`an upload answered ${answer.status}: ${said}`);
}

async function count(client, status) {
  const { body } = await client.call('GET', `/knowledge/content?status=${status}&limit=1`);
  return body.meta.total_count;
}

/** Six sections of two paragraphs: about 5 KB. */
function pageOf(name, at) {
  const seed = name.length * 10_000_000 + at * 12;
  const sections = Array.from({ length: 6 }, (_, section) => {
    const [first, second] = [0, 1].map((paragraph) => textOf(seed + section * 2 + paragraph));
    return `## Section ${section + 1}\n\n${first}\n\n${second}\n`;
  });
  return `# Page ${at} of ${name}\n\n${sections.join('\n')}`;
}
