import { tokens } from './answer.mjs';
import { median } from './statistics.mjs';

/** Bounds of the blueprint. */
const targets = {
  cpu: { run: { oneCaller: 2.5, manyCallers: 2 }, stream: { oneCaller: 2, manyCallers: 1.5 } },
  session: 1.1,
  memoryKiB: 12,
  coldStart: { existing: 3, fresh: 4 },
  constructionMicroseconds: 20,
  constructionKiB: 10,
  evalCpu: 1.3,
};

/**
 * One row: two values of the same unit, their ratio, and perhaps a bound for the ratio or for the second value. Where
 * nothing compares there is no `base`.
 */
export function row({ what, where, unit, base, measured, mostRatio, most }) {
  if (base === undefined) return { what, where, unit, measured };
  const ratio = measured / base;
  const common = { what, where, unit, base, measured, ratio };
  if (mostRatio !== undefined) return { ...common, target: `${mostRatio}×`, met: ratio <= mostRatio };
  if (most !== undefined) return { ...common, target: `${most} ${unit}`, met: measured <= most };
  return common;
}

/**
 * What one shape of load cost on two servers, and perhaps on one that calls the model in the `usual` way. `bounded`:
 * the CPU time of a run has a bound.
 */
export function loadRow(where, { name, callers, stream }, { base, measured, usual }, bounded) {
  const mostCpu = targets.cpu[stream ? 'stream' : 'run'][callers === 1 ? 'oneCaller' : 'manyCallers'];
  const both = (unit, value) => ({ unit, base: value(base), measured: value(measured) });
  return {
    what: `${name}, ${callers} ${callers === 1 ? 'caller' : 'callers'}`,
    where,
    cpu: row({
      ...both('ms', (side) => side.cpuPerRun / 1000),
      ...(bounded && { mostRatio: mostCpu }),
    }),
    ...(usual !== undefined && {
      cpuAgainstUsual: row({
        unit: 'ms',
        base: usual.cpuPerRun / 1000,
        measured: measured.cpuPerRun / 1000,
      }),
    }),
    throughput: row(both('runs/s', (side) => side.runsPerSecond)),
    time: row(both('ms', (side) => side.wholeMs.p50)),
  };
}

export function streamRows(where, { name, callers }, { base, measured }) {
  const both = (title, unit, value) =>
    row({
      what: `${title} (${name}, ${callers} ${callers === 1 ? 'caller' : 'callers'})`,
      where,
      unit,
      base: value(base),
      measured: value(measured),
    });
  return [
    both('CPU per token', 'µs', (side) => side.cpuPerRun / tokens.length),
    both('first content event, p50', 'ms', (side) => side.firstMs.p50),
    both('first content event, p99', 'ms', (side) => side.firstMs.p99),
  ];
}

export function sessionRows(where, { first, last }) {
  const both = (what, value) =>
    row({
      what,
      where,
      unit: 'ms',
      base: value(first),
      measured: value(last),
      mostRatio: targets.session,
    });
  return [
    both('time of a run', (side) => side.wholeMs),
    both('CPU of a run', (side) => side.cpuPerRun / 1000),
  ];
}

export function memoryRows(where, count, { bare, runyard }) {
  const both = (name, value) =>
    row({
      what: `idle stream, one of ${count}: ${name}`,
      where,
      unit: 'KiB',
      base: median(bare.map(value)),
      measured: median(runyard.map(value)),
      most: targets.memoryKiB,
    });
  return [both('live', (side) => side.heapKiB), both('resident', (side) => side.rssKiB)];
}

export function coldStartRows(where, { bare, fresh, existing }) {
  const common = { where, unit: 'ms', base: bare };
  const most = targets.coldStart;
  return [
    row({ ...common, what: 'cold start, new data folder', measured: fresh, mostRatio: most.fresh }),
    row({ ...common, what: 'cold start, existing data', measured: existing, mostRatio: most.existing }),
  ];
}

/** An agent against ten plain objects, and what sixteen parallel tool calls add to a run against the bare functions. */
export function agentRows({ construction, kibibytes, plainObjects, turn }) {
  const where = 'one process';
  return [
    row({
      what: 'an agent with ten tools: CPU',
      where,
      unit: 'µs',
      base: plainObjects.microseconds,
      measured: construction,
      most: targets.constructionMicroseconds,
    }),
    row({
      what: 'an agent with ten tools: memory',
      where,
      unit: 'KiB',
      base: plainObjects.kibibytes,
      measured: kibibytes,
      most: targets.constructionKiB,
    }),
    row({
      what: 'CPU of a turn of 16 parallel tool calls, each journaled and reported',
      where,
      unit: 'µs',
      base: turn.bare,
      measured: turn.calling - turn.plain,
    }),
  ];
}

/** What each of the parts of a workflow and of a team costs, beside its function or model called directly. */
export function teamWorkflowRows(parts, measured) {
  const both = (where, what, base, whole) => [
    row({ what: `${what}: CPU`, where, unit: 'µs', base: base.cpu / parts, measured: whole.cpu / parts }),
    row({ what: `${what}: time`, where, unit: 'µs', base: base.time / parts, measured: whole.time / parts }),
  ];
  const step = `a step, one of ${parts} functions`;
  const member = `a member, one of ${parts} in a broadcast`;
  return [
    ...both('in memory', step, measured.functions, measured.workflow),
    ...both('SQLite', step, measured.functions, measured.storedWorkflow),
    ...both('in memory', member, measured.models, measured.broadcast),
    ...both('SQLite', member, measured.models, measured.storedBroadcast),
  ];
}

/** A case of an eval against the same run and the same function in a loop. */
export function evalRows({ loop, evaluated, storedLoop, storedEvaluated }) {
  const both = (where, base, measured) => [
    row({ what: 'cases', where, unit: 'cases/s', base: base.perSecond, measured: measured.perSecond }),
    row({
      what: 'CPU of a case',
      where,
      unit: 'ms',
      base: base.cpu,
      measured: measured.cpu,
      mostRatio: targets.evalCpu,
    }),
  ];
  return [...both('in memory', loop, evaluated), ...both('SQLite', storedLoop, storedEvaluated)];
}
