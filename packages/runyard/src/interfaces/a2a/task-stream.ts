import type { EventReader } from '../../core/runs/events/event-reader.js';
import type { FrameReader } from './call.js';
import type { Frame, UpdateEncoder } from './dialects/dialect.js';
import { RunUpdates } from './run-updates.js';
import type { Task } from './task.js';

export interface TaskStreamOptions {
  /** The task as it is when the stream begins. */
  readonly task: Task;
  readonly events: EventReader;
  readonly encoder: UpdateEncoder;
  /** The task once its run rests; undefined if this process has given the run up: the stream ends, the run does not. */
  readonly rested: () => Promise<Task | undefined>;
}

/** The frames of a stream: the task, what happens in it, and the task at rest. It holds no events. */
export class TaskStream implements FrameReader {
  private readonly updates: RunUpdates;
  private begun = false;
  private over = false;
  private closed = false;

  constructor(private readonly options: TaskStreamOptions) {
    this.updates = new RunUpdates(options.task.id);
  }

  async next(): Promise<readonly Frame[] | null> {
    while (!this.over) {
      const frames = await this.some();
      if (frames.length > 0) return frames;
    }
    return null;
  }

  close(): void {
    this.closed = true;
    this.options.events.close();
  }

  private async some(): Promise<readonly Frame[]> {
    const { encoder, events, task } = this.options;
    if (!this.begun) {
      this.begun = true;
      return encoder.frames({ type: 'task', task });
    }
    const logged = await events.next();
    if (logged === null) return this.last();
    const frames: Frame[] = [];
    for (const event of logged) {
      const found = this.updates.of(event);
      // to wait for each piece would take longer than all of them
      const updates = found instanceof Promise ? await found : found;
      for (const update of updates) frames.push(...encoder.frames(update));
    }
    return frames;
  }

  private async last(): Promise<readonly Frame[]> {
    this.over = true;
    const task = this.closed ? undefined : await this.options.rested();
    if (task === undefined) return [];
    return this.options.encoder.frames({ type: 'rest', task, isStreamed: this.updates.isStreamed(task) });
  }
}
