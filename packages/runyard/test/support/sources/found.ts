import type {
  ContentSource,
  SourceFile,
  SourceParameters,
} from '../../../src/core/knowledge/sources/source.js';

export async function findAll(
  source: ContentSource,
  path: string,
  parameters: SourceParameters = {},
): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = [];
  for await (const file of source.find(path, parameters, AbortSignal.timeout(20_000))) files.push(file);
  return files;
}

export async function textOf({ content }: SourceFile): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content.open()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

export function list(
  source: ContentSource,
  given: { prefix?: string; delimiter?: string; limit?: number; page?: number } = {},
) {
  return source.list({ delimiter: '/', limit: 100, page: 1, signal: AbortSignal.timeout(20_000), ...given });
}
