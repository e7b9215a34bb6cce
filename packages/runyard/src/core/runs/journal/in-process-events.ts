import { canonicalJson } from '../../tools/call/canonical-json.js';
import type { Run } from '../run.js';
import type { RunJournal } from './ports.js';
import { awaitedEvent, mostEvents, type ReceivedEvent, type ReceivedEvents } from './received-events.js';

interface Kept extends ReceivedEvent {
  /** The key of the wait that has it. */
  takenBy?: string;
}

/** Received events of a space without a service: they end with the process. */
export class InProcessEvents implements ReceivedEvents {
  private readonly byRun = new Map<string, Kept[]>();

  constructor(private readonly journal: Pick<RunJournal, 'load'>) {}

  async add(runId: string, event: ReceivedEvent): ReturnType<ReceivedEvents['add']> {
    const events = this.byRun.get(runId) ?? [];
    const known = events.find(({ eventId }) => eventId === event.eventId);
    if (known !== undefined) {
      const isSame = known.name === event.name && canonicalJson(known.data) === canonicalJson(event.data);
      return isSame ? 'known' : 'differs';
    }
    if (events.length >= mostEvents) return 'full';
    this.byRun.set(runId, [...events, { ...event }]);
    return 'added';
  }

  async take(runId: string, name: string, waitKey: string): Promise<ReceivedEvent | undefined> {
    const events = (this.byRun.get(runId) ?? []).filter((event) => event.name === name);
    const found =
      events.find(({ takenBy }) => takenBy === waitKey) ??
      events.find(({ takenBy }) => takenBy === undefined);
    if (found !== undefined) found.takenBy = waitKey;
    return found;
  }

  async answerable(limit: number, passed: number): Promise<readonly Run[]> {
    const found: Run[] = [];
    for (const [runId, events] of this.byRun) {
      const stored = await this.journal.load(runId);
      if (stored?.run.status !== 'paused') continue;
      const isAnswered = stored.steps.some(
        (step) =>
          step.status === 'running' &&
          events.some(
            ({ name, takenBy }) => name === awaitedEvent(step) && (takenBy ?? step.key) === step.key,
          ),
      );
      if (isAnswered) found.push(stored.run);
    }
    return found.slice(passed, passed + limit);
  }
}
