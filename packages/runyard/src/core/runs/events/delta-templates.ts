import type { PieceEvent } from '../../events/run-event.js';
import { type EventOrigin, eventHead } from './event-origin.js';
import { type DeltaTemplate, deltaTemplate } from './logged-event.js';

interface Known {
  readonly second: number;
  readonly origin: EventOrigin;
  readonly template: DeltaTemplate;
}

/** The templates of pieces, by the event whose pieces they are: runs within a run may stream side by side. */
export class DeltaTemplates {
  private readonly known = new WeakMap<PieceEvent, Known>();

  /** An event has the second that it was sent in. */
  of(event: PieceEvent, origin: EventOrigin, sessionId: string, now: number): DeltaTemplate {
    const second = Math.floor(now / 1000);
    const known = this.known.get(event);
    if (known?.second === second && known.origin === origin) return known.template;
    const template = deltaTemplate(event, eventHead(event, origin, sessionId, now));
    this.known.set(event, { second, origin, template });
    return template;
  }
}
