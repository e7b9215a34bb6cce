import { searchNameOf } from '../../packages/runyard/dist/capabilities/sessions/search-name.js';
import { spanStepKinds } from '../../packages/runyard/dist/core/traces/span.js';
import { Stamp } from './stamp.mjs';
import { paragraph, question } from './texts.mjs';

const dayMs = 86_400_000;

/** Puts sessions with their runs into the database, the runs in the order in which they began. */
export async function seedConversations({ load, random, templates, amounts, until }) {
  const byComponent = new Map();
  for (const template of templates) {
    const { kind, component_id: id } = template.session;
    const known = byComponent.get(`${kind} ${id}`) ?? { kind, id, share: 0, templates: [] };
    known.share += template.share;
    known.templates.push({ share: template.share, stamp: new Stamp(template) });
    byComponent.set(`${kind} ${id}`, known);
  }
  const components = [...byComponent.values()];
  const sessions = newSessions(random, components, amounts, until);
  const counts = { runs: 0, spans: 0 };
  const kind = load.columnsOf('steps').indexOf('kind');
  for (const { session, time } of inOrder(random, sessions, until)) {
    for (const [table, values] of runRows(random, session, time, until)) {
      if (table === 'steps' && spanStepKinds.includes(values[kind])) counts.spans += 1;
      load.insert(table, values);
    }
    counts.runs += 1;
    await load.settle();
  }
  for (const session of sessions) {
    insertSession(load, random, session);
    await load.settle();
  }
  return { ...counts, sessions };
}

/** The first one is the one with very many runs; the others share what is left, a few each. */
function newSessions(random, components, { sessions, runs, longestSession, users, days }, until) {
  const made = Array.from({ length: sessions }, (_, position) => {
    const created = until - Math.floor((1 - position / sessions) * days * dayMs);
    return {
      id: random.idAt(created, position),
      user: random.chance(0.1) ? null : `user-${random.skewed(users)}`,
      component: chosen(random, components),
      created,
      updated: created,
      runs: 1,
      last: 0,
      name: question(random),
    };
  });
  Object.assign(made[0], { runs: longestSession, user: 'user-0', component: components[0] });
  for (let left = runs - longestSession - (sessions - 1); left > 0; left -= 1)
    made[1 + random.below(sessions - 1)].runs += 1;
  return made;
}

function inOrder(random, sessions, until) {
  const entries = [];
  for (const session of sessions) {
    const left = until - session.created;
    const pause =
      session.runs > 1000 ? left / session.runs : Math.min(10 * 60_000, left / (session.runs + 1));
    for (let position = 0; position < session.runs; position += 1) {
      const time = Math.floor(
        session.created + position * pause + (position > 0 ? random.next() * pause : 0),
      );
      entries.push({ session, time });
    }
  }
  return entries.sort((one, other) => one.time - other.time);
}

let sequence = 0;

function runRows(random, session, time, until) {
  const { stamp } = chosen(random, session.component.templates);
  const first = session.first === undefined;
  const ids = stamp.ids.map(() => random.idAt(time, sequence++));
  session.first ??= ids[0];
  session.updated = Math.max(session.updated, time);
  session.last += 1;
  return stamp.rowsOf({
    ids,
    time,
    session: session.id,
    place: session.last,
    user: session.user,
    question: first ? session.name : question(random),
    answer: paragraph(random),
    result: paragraph(random),
    stretch: 20 + random.skewed(2000),
    day: Math.floor(time / dayMs),
    events: time > until - dayMs,
  });
}

function insertSession(load, random, session) {
  const { id, component, user, created, updated } = session;
  const name = random.chance(0.1) ? `${session.name} renamed` : session.name;
  const values = { kind: component.kind, component_id: component.id, user_id: user, name, metadata: null };
  const times = { created_at: created, updated_at: updated };
  const row = { session_id: id, ...values, ...times, last_run_seq: session.last };
  insertRow(load, 'sessions', { ...row, search_name: searchNameOf(name) });
  if (random.chance(0.3)) {
    insertRow(load, 'session_state', { session_id: id, key: 'step', value: String(random.below(10)) });
    insertRow(load, 'session_state', { session_id: id, key: 'cart', value: '["tea","bread"]' });
  }
  if (!random.chance(0.2)) return;
  const contents = { summary: paragraph(random), topics: '["work","travel"]' };
  const summary = { covers_until: updated, updated_at: updated };
  insertRow(load, 'session_summaries', { session_id: id, ...contents, ...summary });
}

/** By the names of the columns. */
export function insertRow(load, table, row) {
  load.insert(
    table,
    load.columnsOf(table).map((column) => row[column] ?? null),
  );
}

/** As often as its share says. */
function chosen(random, list) {
  let left = random.next() * list.reduce((sum, { share }) => sum + share, 0);
  for (const one of list) {
    left -= one.share;
    if (left < 0) return one;
  }
  return list.at(-1);
}
