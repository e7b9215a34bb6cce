/** How a recorded row becomes that of another run: what differs from run to run is a slot in its texts. */
const slots =
  /«(question|answer|result|session|user)»\d*|([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})|\b(1\d{12})\b/g;

const timeColumns = new Set(['created_at', 'updated_at', 'started_at', 'ended_at', 'start_time', 'end_time']);

/** A template that is parsed once. The caller sets its session. */
export class Stamp {
  constructor({ rows }) {
    const [run] = rows.runs;
    this.begun = run.created_at;
    this.ids = [run.run_id];
    this.tables = Object.entries(rows).map(([name, recorded]) => ({
      name,
      rows: recorded.map((row) =>
        Object.entries(row).map(([column, value]) => this.#cell(name, column, value)),
      ),
    }));
  }

  /**
   * The rows of one run, table by table. `given`: its texts, session and user, its place in the session, its ids (the
   * first is its own), when it began, how much longer it took than the recorded one, its day, and whether its events are
   * still there.
   */
  *rowsOf(given) {
    for (const { name, rows } of this.tables) {
      if (name === 'event_blocks' && !given.events) continue;
      for (const cells of rows)
        yield [name, cells.map((cell) => (typeof cell === 'function' ? cell(given) : cell))];
    }
  }

  #cell(table, column, value) {
    if (column === 'trace_id') return ({ ids }) => ids[0].replaceAll('-', '');
    if (table === 'run_usage' && column === 'day') return ({ day }) => day;
    if (column === 'session_seq') return ({ place }) => place;
    if (timeColumns.has(column)) return this.#time(value);
    return typeof value === 'string' ? this.#text(value) : value;
  }

  #time(value) {
    const after = value - this.begun;
    return ({ time, stretch }) => time + Math.round(after * stretch);
  }

  #text(value) {
    const parts = [];
    let from = 0;
    for (const found of value.matchAll(slots)) {
      parts.push(value.slice(from, found.index), this.#slot(found));
      from = found.index + found[0].length;
    }
    if (parts.length === 0) return value;
    if (parts.length === 2 && parts[0] === '' && from === value.length) return parts[1];
    parts.push(value.slice(from));
    return (given) => {
      let text = '';
      for (const part of parts) text += typeof part === 'string' ? part : part(given);
      return text;
    };
  }

  #slot([, name, id, time]) {
    if (name !== undefined) return (given) => given[name];
    if (time !== undefined) return this.#time(Number(time));
    if (!this.ids.includes(id)) this.ids.push(id);
    const position = this.ids.indexOf(id);
    return ({ ids }) => ids[position];
  }
}
