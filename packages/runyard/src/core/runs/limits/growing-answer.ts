import type { PieceEvent } from '../../events/run-event.js';
import type { RunGuard } from './run-guard.js';

/** An answer is checked whenever it has grown so much. */
const checkedBytes = 65_536;

/** Holds an answer to the limit of its run while it is being written. */
export class GrowingAnswer {
  private event: PieceEvent | null = null;
  private bytes = 0;
  private checked = 0;

  constructor(private readonly guard: RunGuard | undefined) {}

  /** All pieces of an answer have the same event. Throws when the run would hold too much. */
  piece(event: PieceEvent, bytes: number): void {
    if (event !== this.event) {
      this.event = event;
      this.bytes = 0;
      this.checked = 0;
    }
    this.bytes += bytes;
    if (this.bytes - this.checked < checkedBytes) return;
    this.checked = this.bytes;
    this.guard?.hold(this.bytes);
  }
}
