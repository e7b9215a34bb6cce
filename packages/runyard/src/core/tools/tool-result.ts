import { reasonOf } from '../errors/reason.js';
import { newId } from '../ids.js';
import type { Media, MediaContents, MediaKind } from '../media/media.js';
import { checkOptions } from '../options/check-options.js';
import { json, listOf, objectOf, required } from '../options/kinds.js';
import { storableCopy } from '../storable-json.js';

/** Media that a tool made: their bytes are stored once, under their hash. */
export interface NewMedia {
  readonly kind: MediaKind;
  readonly bytes: Uint8Array;
  readonly mimeType?: string;
  readonly filename?: string;
}

/** A tool's result that carries media beside its content. */
export class ToolResult<Content = unknown> {
  constructor(
    readonly content: Content,
    readonly media: readonly (Media | NewMedia)[],
  ) {}
}

interface ToolResultOptions {
  readonly media: readonly (Media | NewMedia)[];
}

/** What the tool did is done: media that cannot be kept cost their own place, not the result. */
const toolResultOptions = objectOf<ToolResultOptions>({ media: required(listOf(json)) });

export function toolResult<Content>(content: Content, options: ToolResultOptions): ToolResult<Content> {
  checkOptions('toolResult()', options, toolResultOptions);
  return new ToolResult(content, options.media);
}

export interface StoredMedia {
  readonly media: readonly Media[];
  /** One line for each that could not be kept, for the model to read. */
  readonly faults: readonly string[];
}

const largestMedia = 25 * 1024 * 1024;

export async function storeMedia(
  given: readonly (Media | NewMedia)[],
  contents: MediaContents | undefined,
): Promise<StoredMedia> {
  const media: Media[] = [];
  const faults: string[] = [];
  for (const one of given) {
    try {
      media.push('bytes' in one ? await storeOne(one, contents) : named(one));
    } catch (error) {
      faults.push(`[The ${one.kind} of this result could not be stored: ${reasonOf(error)}]`);
    }
  }
  return { media, faults };
}

/** Media whose bytes are somewhere already: the fields are the application's own. */
function named(one: Media): Media {
  if (one.url === undefined && one.hash === undefined) throw new Error('it has neither bytes nor a url.');
  return storableCopy(one, 'Its description');
}

async function storeOne(one: NewMedia, contents: MediaContents | undefined): Promise<Media> {
  const { bytes, ...rest } = one;
  const fields = storableCopy(rest, 'Its description');
  if (bytes.length > largestMedia)
    throw new Error(`it has ${bytes.length} bytes, the limit is ${largestMedia}.`);
  if (contents === undefined) throw new Error('media cannot be stored here.');
  return { ...fields, id: newId(), hash: await contents.put(bytes), size: bytes.length };
}
