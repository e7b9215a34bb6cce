import type { AguiEvent } from './agui-event.js';

interface Item {
  readonly key: string;
  readonly name: string;
  readonly at: number;
}

/** What happens within a run: steps of a workflow, members of a team. As steps, and as an activity that clients can draw. */
export class Steps {
  private readonly open: Item[] = [];
  private count = 0;

  constructor(
    private readonly runId: string,
    /** Clients before 1.0 may not know activities. */
    private readonly showsActivity: boolean,
  ) {}

  *start(key: string, name: string): Generator<AguiEvent> {
    if (this.open.some((item) => item.key === key)) return;
    // no two open steps have the same name
    const taken = new Set(this.open.map((item) => item.name));
    let unique = name;
    for (let copy = 2; taken.has(unique); copy++) unique = `${name} (${copy})`;
    const item = { key, name: unique, at: this.count++ };
    this.open.push(item);
    yield { type: 'STEP_STARTED', stepName: unique };
    if (!this.showsActivity) return;
    const value = { name, status: 'running' };
    if (item.at === 0) yield { type: 'ACTIVITY_SNAPSHOT', ...this.activity, content: { steps: [value] } };
    else yield this.patch([{ op: 'add', path: '/steps/-', value }]);
  }

  *end(key: string, status: 'completed' | 'failed' | 'waiting' | 'cancelled'): Generator<AguiEvent> {
    const at = this.open.findIndex((item) => item.key === key);
    const [item] = at < 0 ? [] : this.open.splice(at, 1);
    if (item === undefined) return;
    if (this.showsActivity)
      yield this.patch([{ op: 'replace', path: `/steps/${item.at}/status`, value: status }]);
    yield { type: 'STEP_FINISHED', stepName: item.name };
  }

  /** The innermost first. */
  *endAll(status: 'completed' | 'failed' | 'waiting' | 'cancelled'): Generator<AguiEvent> {
    for (const { key } of [...this.open].reverse()) yield* this.end(key, status);
  }

  private get activity() {
    return { messageId: `${this.runId}-steps`, activityType: 'runyard.steps' };
  }

  private patch(
    patch: { op: string; path: string; value: { name: string; status: string } | string }[],
  ): AguiEvent {
    return { type: 'ACTIVITY_DELTA', ...this.activity, patch };
  }
}
