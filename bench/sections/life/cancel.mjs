import { row } from '../../lib/rows.mjs';
import { manyTimes, RunClient, until } from '../../lib/run-client.mjs';
import { percentile } from '../../lib/statistics.mjs';

const slots = 8;
const uncounted = 5;

/** What a run does when it is cancelled, and how to get it there. The bare server knows two of them. */
const situations = [
  { name: 'in the middle of an answer', agentId: 'endless', bareAgentId: 'endless', begin: speaking },
  { name: 'inside a tool', agentId: 'working', bareAgentId: 'waiting', begin: insideATool },
  { name: 'paused', agentId: 'paying', bareAgentId: 'waiting', begin: paused },
  { name: 'waiting for its turn', agentId: 'paying', bareAgentId: 'waiting', begin: inTheQueue },
];

/** From sending the cancellation until it is answered, and until the stored run says so. */
export async function measureCancelling({ start, model }, { title, database }, { rounds }) {
  const bare = await start.bare(database);
  const runyard = await start.runyard(database, { maxConcurrentRuns: slots });
  const rows = [];
  for (const situation of situations) {
    const { name, agentId, bareAgentId, begin } = situation;
    const base = { client: new RunClient(bare.port, bareAgentId), begin: held, samples: [] };
    const measured = { client: new RunClient(runyard.port, agentId), begin, samples: [] };
    if (begin === inTheQueue) await fillSlots(runyard.port);
    for (let round = -uncounted; round < rounds; round += 1) {
      for (const side of round % 2 === 0 ? [base, measured] : [measured, base]) {
        const sample = await cancelOne(side);
        if (round >= 0) side.samples.push(sample);
      }
    }
    if (begin === inTheQueue) await runyard.ask('release');
    rows.push(...rowsOf(title, name, measured.samples, base.samples));
  }
  if (database === 'postgres')
    rows.push(...(await throughAnother(runyard, await start.runyard(database), title, rounds)));
  await until('the model has no open call', async () =>
    (await model.ask('endless')) === 0 ? true : undefined,
  );
  await Promise.all([bare.stop(), runyard.stop()]);
  return rows;
}

/** One process executes the run, another one is asked to cancel it. */
async function throughAnother(owner, other, title, rounds) {
  const side = { client: new RunClient(owner.port, 'endless'), begin: speaking };
  const through = new RunClient(other.port, 'endless');
  // what a server needs for its first queries it loads with them
  await cancelOne(side, through);
  const samples = [];
  for (let round = 0; round < Math.ceil(rounds / 3); round += 1) samples.push(await cancelOne(side, through));
  await other.stop();
  return rowsOf(title, 'in the middle of an answer, asked of another process', samples);
}

async function cancelOne({ client, begin }, through = client) {
  const runId = client.newRunId();
  const stream = await begin(client, { run_id: runId, message: 'Go' });
  const begun = performance.now();
  await through.cancel(runId);
  const answered = performance.now() - begun;
  await until('the stored run is cancelled', async () => {
    return (await through.get(runId)).status === 'cancelled' ? true : undefined;
  });
  const stored = performance.now() - begun;
  await stream?.over;
  return { answered, stored };
}

async function held(client, form) {
  const stream = await client.stream(form);
  await stream.until('RunContent');
  return stream;
}

async function speaking(client, form) {
  const stream = await client.stream(form);
  await stream.until('RunContent', 5);
  return stream;
}

async function insideATool(client, form) {
  const stream = await client.stream(form);
  await stream.until('ToolCallStarted');
  return stream;
}

async function paused(client, form) {
  const { body } = await client.create({ ...form, stream: 'false' });
  if (body.status !== 'paused') throw new Error(`a run should be paused and is ${body.status}`);
}

async function inTheQueue(client, form) {
  const { body } = await client.create({ ...form, background: 'true' });
  if (body.status !== 'pending') throw new Error(`a run should be pending and is ${body.status}`);
}

async function fillSlots(port) {
  const client = new RunClient(port, 'waiting');
  await manyTimes(slots, slots, () => client.create({ message: 'Go', background: 'true' }));
}

function rowsOf(where, situation, measured, base = []) {
  const both = (name, value, percent) =>
    row({
      what: `${situation}: ${name}, p${percent}`,
      where,
      unit: 'ms',
      base: percentile(base.map(value), percent),
      measured: percentile(measured.map(value), percent),
    });
  return [
    ...[50, 95].map((percent) => both('answered', ({ answered }) => answered, percent)),
    ...[50, 95].map((percent) => both('seen in the stored run', ({ stored }) => stored, percent)),
  ];
}
