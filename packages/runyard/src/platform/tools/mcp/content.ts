import { ToolRefused } from '../../../core/tools/call/tool-hooks.js';
import { type NewMedia, toolResult } from '../../../core/tools/tool-result.js';
import type { McpCallResult } from './library.js';

type Block = McpCallResult['content'][number];

/**
 * What a server answered to a call, as a tool would return it: the value of a tool that describes its output, the texts
 * of any other. What the server calls an error is thrown.
 */
export function resultOf(answer: McpCallResult, describesOutput: boolean): unknown {
  const { content: blocks = [], structuredContent } = answer;
  const media = new MediaOfAnswer();
  const texts = blocks.map((block) => textOf(block, media)).filter((text) => text !== '');
  if (describesOutput && structuredContent !== undefined && !answer.isError) {
    if (media.found.length === 0) return structuredContent;
    const value: unknown = JSON.parse(media.withoutBytes(JSON.stringify(structuredContent)));
    return toolResult(value, { media: media.found });
  }
  // Servers repeat what is structured as a text, for clients that know only texts.
  const isRepeated = texts.length > media.marks;
  if (structuredContent !== undefined && !isRepeated) {
    if (texts.length === 0 && !answer.isError) return structuredContent;
    texts.push(JSON.stringify(structuredContent));
  }
  const text = media.withoutBytes(texts.join('\n'));
  if (answer.isError) throw new ToolRefused(text || 'The tool failed and did not say why.');
  return media.found.length === 0 ? text : toolResult(text, { media: media.found });
}

/** The media of one answer: the model reads a mark in the place of their bytes. */
class MediaOfAnswer {
  readonly found: NewMedia[] = [];
  /** How many texts are nothing but marks. */
  marks = 0;
  readonly #repeats: { readonly bytes: RegExp; readonly mark: string }[] = [];

  take(base64: string, fields: Omit<NewMedia, 'bytes'>): string {
    const bytes = Buffer.from(base64, 'base64');
    this.found.push({ ...fields, bytes });
    this.marks += 1;
    const mark = `[${fields.mimeType ?? fields.kind}, ${sizeInWords(bytes.length)}]`;
    const spelt = bytes.toString('base64');
    if (spelt.length >= telling) this.#repeats.push({ bytes: spellingsOf(spelt), mark });
    return mark;
  }

  /** A text without the bytes that a server repeats in it. */
  withoutBytes(text: string): string {
    return this.#repeats.reduce((rest, { bytes, mark }) => rest.replace(bytes, () => mark), text);
  }
}

/** A prefix of this many characters of base64 identifies the bytes. */
const telling = 64;

/** The same bytes in any spelling: with the other alphabet, slashes escaped, broken into lines. */
function spellingsOf(base64: string): RegExp {
  const start = Array.from(base64.slice(0, telling), (character) => anySpelling[character] ?? character);
  return new RegExp(`${start.join(between)}${between}(?:[\\w+/=-]|${gap})*`, 'g');
}

const anySpelling: Readonly<Record<string, string>> = { '+': '[+-]', '/': '[/_]' };
const gap = '\\\\[/nr]|[\\r\\n]';
const between = '(?:\\\\[nr]|[\\r\\n]|\\\\(?=/))*';

function sizeInWords(bytes: number): string {
  return bytes < 1_000 ? `${bytes} bytes` : `${Math.round(bytes / 1_000)} kB`;
}

function textOf(block: Block, media: MediaOfAnswer): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return media.take(block.data, { kind: block.type, mimeType: block.mimeType });
    case 'resource_link':
      return `[${block.title ?? block.name}](${block.uri})`;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return `${resource.uri}\n${resource.text}`;
      const fields = { ...kindOf(resource.mimeType), filename: nameOf(resource.uri) };
      return `${resource.uri} ${media.take(resource.blob, fields)}`;
    }
    default:
      return '';
  }
}

function kindOf(mimeType = 'application/octet-stream'): Pick<NewMedia, 'kind' | 'mimeType'> {
  const family = mimeType.split('/', 1)[0];
  const kind = family === 'image' || family === 'audio' || family === 'video' ? family : 'file';
  return { kind, mimeType };
}

function nameOf(uri: string): string {
  return (
    uri
      .replace(/[?#][\s\S]*/, '')
      .split('/')
      .pop() || 'resource'
  );
}
