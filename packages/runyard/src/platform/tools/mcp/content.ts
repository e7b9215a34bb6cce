import { ToolRefused } from '../../../core/tools/tool-hooks.js';
import { type NewMedia, toolResult } from '../../../core/tools/tool-result.js';
import type { McpCallResult } from './library.js';

type Block = McpCallResult['content'][number];

/** What a server answered to a call, as a tool would return it. What it calls an error is thrown. */
export function resultOf(answer: McpCallResult): unknown {
  const media: NewMedia[] = [];
  const texts = (answer.content ?? []).map((block) => textOf(block, media)).filter((text) => text !== '');
  const text = texts.join('\n');
  if (answer.isError) throw new ToolRefused(text || 'The tool failed and did not say why.');
  // Servers repeat what is structured as a text, for clients that know only texts.
  const content = text === '' && answer.structuredContent !== undefined ? answer.structuredContent : text;
  return media.length === 0 ? content : toolResult(content, { media });
}

function textOf(block: Block, media: NewMedia[]): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      media.push({ kind: block.type, bytes: bytesOf(block.data), mimeType: block.mimeType });
      return '';
    case 'resource_link':
      return `[${block.title ?? block.name}](${block.uri})`;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return `${resource.uri}\n${resource.text}`;
      media.push({
        ...kindOf(resource.mimeType),
        bytes: bytesOf(resource.blob),
        filename: nameOf(resource.uri),
      });
      return resource.uri;
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

function bytesOf(base64: string): Uint8Array {
  return Buffer.from(base64, 'base64');
}

function nameOf(uri: string): string {
  return uri.split(/[?#]/, 1)[0]!.split('/').pop() || 'resource';
}
