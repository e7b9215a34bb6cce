import {
  type EventName,
  type EventsOf,
  type PieceEvent,
  pieceFields,
  type RunEvent,
} from '../../events/run-event.js';
import type { Json } from '../../json.js';
import {
  escapeLineSeparators,
  isPacked,
  packed,
  partsOf,
  type TextIds,
  type TextSource,
  unpackedPieces,
  weigh,
} from '../journal/long-texts.js';
import type { RunKind } from '../run.js';

/** What an event says about itself, in the order of the wire. */
export type EventHead = { readonly event: EventName; readonly [field: string]: Json };

/** The constant beginning and end of content deltas that follow each other: only the text between differs. */
export interface DeltaTemplate {
  readonly name: EventName;
  readonly prefix: string;
  readonly suffix: string;
}

/** An event of a run, serialised once and shared by all its readers. */
export class LoggedEvent {
  constructor(
    readonly index: number,
    readonly name: EventName,
    /** The same when the run is executed again; content deltas have none. */
    readonly key: string | null,
    /** One line of JSON; packed when `texts` is set. */
    readonly data: string,
    readonly template: DeltaTemplate | null = null,
    /** The JSON text of a delta's piece, when made from a template. */
    readonly text: string = '',
    /** Where the long texts of an event are that does not hold them itself. */
    readonly texts: TextSource | null = null,
    /** How much memory it takes. */
    readonly size: number = data.length,
  ) {}

  /** The JSON of an event with long texts, piece by piece: made for each reader, and never whole in memory. */
  get pieces(): (() => AsyncIterable<string>) | undefined {
    const { data, texts } = this;
    return texts === null ? undefined : () => unpackedPieces(data, texts);
  }

  /** The text of a piece that is sent as it comes; undefined for another event. */
  get piece(): string | undefined {
    return this.template === null ? undefined : JSON.parse(this.text);
  }

  /** The event as a value. Only Runyard writes what is decoded here. `Kind`: whose run it is an event of. */
  decoded<Kind extends RunKind = 'workflow'>(): EventsOf[Kind] | Promise<EventsOf[Kind]> {
    return this.texts === null ? JSON.parse(this.data) : this.decodedLong(this.texts);
  }

  private async decodedLong<Kind extends RunKind>(texts: TextSource): Promise<EventsOf[Kind]> {
    let json = '';
    for await (const piece of unpackedPieces(this.data, texts)) json += piece;
    return JSON.parse(json);
  }

  /** The run that the event is of. Quotes in texts are escaped: the first field of this name is the event's own. */
  get runId(): string {
    const known = this.template && runIdsOfTemplates.get(this.template);
    if (typeof known === 'string') return known;
    const found = /"run_id":("(?:[^"\\]|\\.)*")/.exec(this.template?.prefix ?? this.data)?.[1];
    const runId: string = found === undefined ? '' : JSON.parse(found);
    if (this.template !== null) runIdsOfTemplates.set(this.template, runId);
    return runId;
  }
}

const runIdsOfTemplates = new WeakMap<DeltaTemplate, string>();

/** JSON on one line that line-splitting clients do not split: U+2028 and U+2029 count as line ends to some. */
export function oneLineJson(value: Json | object): string {
  return escapeLineSeparators(JSON.stringify(value));
}

/** Serialises an event; its index is the last field so that deltas can be put together from a template. */
export function serialiseEvent(
  index: number,
  event: RunEvent,
  head: EventHead,
  key: string | null,
  texts: TextIds,
): LoggedEvent {
  const long = new Set<string>();
  const weight = weigh(event, (text) => long.add(text));
  const whole = { ...head, ...event, event: head.event, event_index: index };
  if (long.size === 0) return new LoggedEvent(index, head.event, key, oneLineJson(whole));
  const data = escapeLineSeparators(packed(whole, (text) => texts.idOf(text)));
  // of its own: the run forgets what only its events hold
  const own = new Map(Array.from(long, (text) => [texts.idOf(text), text]));
  const source = { parts: (id: string) => partsOf(own.get(id) ?? '') };
  return new LoggedEvent(index, head.event, key, data, null, '', source, weight);
}

/** Splits the JSON of an event around its (empty) streamed field, to be filled for each delta. */
export function deltaTemplate(event: PieceEvent, head: EventHead): DeltaTemplate {
  const field = pieceFields[event.event];
  const marker = `"${field}":""`;
  const whole = oneLineJson({ ...head, ...event, event: head.event, [field]: '' });
  const at = whole.lastIndexOf(marker);
  return {
    name: head.event,
    prefix: whole.slice(0, at + marker.length - 2),
    suffix: `${whole.slice(at + marker.length, -1)},"event_index":`,
  };
}

export function serialiseDelta(index: number, template: DeltaTemplate, text: string): LoggedEvent {
  const json = escapeLineSeparators(JSON.stringify(text));
  return deltaFromJson(index, template, json);
}

function deltaFromJson(index: number, template: DeltaTemplate, json: string): LoggedEvent {
  const data = `${template.prefix}${json}${template.suffix}${index}}`;
  return new LoggedEvent(index, template.name, null, data, template, json);
}

/**
 * Events as one stored text. Tabs and newlines never occur in JSON text or names, so they separate. A delta is
 * only its text and the template it belongs to: a long answer costs its length, not that of its envelopes.
 */
export function encodeBlock(events: readonly LoggedEvent[]): string {
  const lines: string[] = [];
  let templates: Map<DeltaTemplate, number> | null = null;
  let template: DeltaTemplate | null = null;
  for (const event of events) {
    if (event.template === null) {
      lines.push(`e\t${event.name}\t${event.key ?? ''}\t${event.data}`);
      continue;
    }
    if (event.template !== template) {
      template = event.template;
      templates ??= new Map();
      lines.push(templateLine(template, templates));
    }
    lines.push(`d\t${event.text}`);
  }
  return lines.join('\n');
}

/** Streams side by side change template with nearly every piece: a known one is named by its number. */
function templateLine(template: DeltaTemplate, known: Map<DeltaTemplate, number>): string {
  const number = known.get(template);
  if (number !== undefined) return `u\t${number}`;
  known.set(template, known.size);
  return `t\t${template.name}\t${template.prefix}\t${template.suffix}`;
}

/**
 * `texts` is where the events that are returned read what they do not hold themselves. Deltas whose name `skipped` takes
 * are left out: most events are deltas, and readers who skip them should not pay for them.
 */
export function decodeBlock(
  firstIndex: number,
  payload: string,
  texts: TextSource | null = null,
  skipped: (name: EventName) => boolean = () => false,
): LoggedEvent[] {
  const events: LoggedEvent[] = [];
  const templates: DeltaTemplate[] = [];
  let template: DeltaTemplate | null = null;
  let skips = false;
  let index = firstIndex;
  for (const line of payload.split('\n')) {
    if (skips && line.startsWith('d')) {
      index++;
      continue;
    }
    const [kind, first = '', second = '', third = ''] = line.split('\t');
    // only Runyard writes blocks: what is in the place of a name is one
    const name = first as EventName;
    const used = kind === 'u' ? templates[Number(first)] : undefined;
    if (kind === 't') {
      template = { name, prefix: second, suffix: third };
      templates.push(template);
      skips = skipped(template.name);
    } else if (used !== undefined) {
      template = used;
      skips = skipped(template.name);
    } else if (kind === 'd' && template !== null) events.push(deltaFromJson(index++, template, first));
    else if (kind === 'e') {
      const source = isPacked(third) ? texts : null;
      events.push(new LoggedEvent(index++, name, second === '' ? null : second, third, null, '', source));
    } else
      throw new Error(`Event block at index ${firstIndex} is damaged: unknown line '${line.slice(0, 40)}'`);
  }
  return events;
}
