import type { Json, JsonObject } from '../../json.js';
import {
  escapeLineSeparators,
  isPacked,
  type LongTexts,
  packed,
  partsOf,
  type TextSource,
  unpackedPieces,
  weigh,
} from '../journal/long-texts.js';

/** What a component tells about its run. Fields that are undefined are left out. */
export interface RunEvent {
  readonly name: string;
  readonly payload: Readonly<Record<string, Json | undefined>>;
  /** The field that the pieces of a streamed event fill; left out: `content`. */
  readonly streamedField?: string;
}

/**
 * An event of the application's own keeps its name, whatever component it comes from. Each has a number of its own in
 * its key: none has to be remembered to be sent only once.
 */
export const customEventName = 'CustomEvent';

/** The constant beginning and end of content deltas that follow each other: only the text between differs. */
export interface DeltaTemplate {
  readonly name: string;
  readonly prefix: string;
  readonly suffix: string;
}

/** An event of a run, serialised once and shared by all its readers. */
export class LoggedEvent {
  constructor(
    readonly index: number,
    readonly name: string,
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

  /** The JSON of an event with long texts, piece by piece: made anew for each reader, and never whole in memory. */
  get pieces(): (() => AsyncIterable<string>) | undefined {
    const { data, texts } = this;
    return texts === null ? undefined : () => unpackedPieces(data, texts);
  }

  /** The JSON of the event, however long. */
  async whole(): Promise<string> {
    if (this.texts === null) return this.data;
    let json = '';
    for await (const piece of unpackedPieces(this.data, this.texts)) json += piece;
    return json;
  }
}

/** JSON on one line that line-splitting clients do not split: U+2028 and U+2029 count as line ends to some. */
export function oneLineJson(value: Json | object): string {
  return escapeLineSeparators(JSON.stringify(value));
}

/** Serialises an event; its index is the last field so that deltas can be put together from a template. */
export function serialiseEvent(
  index: number,
  event: RunEvent,
  base: JsonObject,
  key: string | null,
  texts: LongTexts,
): LoggedEvent {
  const long = new Set<string>();
  const weight = weigh(event.payload, (text) => long.add(text));
  const whole = { ...base, ...event.payload, event_index: index };
  if (long.size === 0) return new LoggedEvent(index, event.name, key, oneLineJson(whole));
  const data = escapeLineSeparators(packed(whole, texts.idOf));
  // of its own: the run forgets what only its events hold
  const own = new Map(Array.from(long, (text) => [texts.idOf(text), text]));
  const source = { parts: (id: string) => partsOf(own.get(id) ?? '') };
  return new LoggedEvent(index, event.name, key, data, null, '', source, weight);
}

/** Splits the JSON of an event around its (empty) streamed field, to be filled for each delta. */
export function deltaTemplate(event: RunEvent, base: JsonObject): DeltaTemplate {
  const field = event.streamedField ?? 'content';
  const marker = `"${field}":""`;
  const whole = oneLineJson({ ...base, ...event.payload, [field]: '' });
  const at = whole.lastIndexOf(marker);
  return {
    name: event.name,
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
  const templates = new Map<DeltaTemplate, number>();
  let template: DeltaTemplate | null = null;
  for (const event of events) {
    if (event.template === null) {
      lines.push(`e\t${event.name}\t${event.key ?? ''}\t${event.data}`);
      continue;
    }
    if (event.template !== template) {
      template = event.template;
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
 * are left out: most events are deltas, and who does not want them is not to pay for them.
 */
export function decodeBlock(
  firstIndex: number,
  payload: string,
  texts: TextSource | null = null,
  skipped: (name: string) => boolean = () => false,
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
    if (kind === 't') {
      template = { name: first, prefix: second, suffix: third };
      templates.push(template);
      skips = skipped(first);
    } else if (kind === 'u' && templates[Number(first)] !== undefined) {
      template = templates[Number(first)]!;
      skips = skipped(template.name);
    } else if (kind === 'd' && template !== null) events.push(deltaFromJson(index++, template, first));
    else if (kind === 'e') {
      const source = isPacked(third) ? texts : null;
      events.push(new LoggedEvent(index++, first, second === '' ? null : second, third, null, '', source));
    } else
      throw new Error(`Event block at index ${firstIndex} is damaged: unknown line '${line.slice(0, 40)}'`);
  }
  return events;
}
