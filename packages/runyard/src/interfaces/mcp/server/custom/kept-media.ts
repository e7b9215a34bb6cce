import { createHash } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Media, MediaContents } from '../../../../core/media/media.js';

type Block = CallToolResult['content'][number];

/** The media that one call of a tool makes: they go to the client with the result, and are stored nowhere. */
export class KeptMedia implements MediaContents {
  readonly #bytes = new Map<string, Uint8Array>();

  async put(bytes: Uint8Array): Promise<string> {
    const hash = createHash('sha256').update(bytes).digest('hex');
    this.#bytes.set(hash, bytes);
    return hash;
  }

  async get(hash: string): Promise<Uint8Array | undefined> {
    return this.#bytes.get(hash);
  }

  blocks(media: readonly Media[]): Block[] {
    return media.flatMap((one): Block[] => {
      const { kind, url, mimeType, filename, id } = one;
      const bytes = one.hash === undefined ? undefined : this.#bytes.get(one.hash);
      const name = filename ?? id;
      if (bytes === undefined)
        return url === undefined
          ? []
          : [{ type: 'resource_link', uri: url, name, ...(mimeType && { mimeType }) }];
      const data = Buffer.from(bytes).toString('base64');
      if (kind === 'image') return [{ type: 'image', data, mimeType: mimeType ?? 'image/png' }];
      if (kind === 'audio') return [{ type: 'audio', data, mimeType: mimeType ?? 'audio/wav' }];
      const resource = {
        uri: `file:///${encodeURIComponent(name)}`,
        blob: data,
        ...(mimeType && { mimeType }),
      };
      return [{ type: 'resource', resource }];
    });
  }
}
