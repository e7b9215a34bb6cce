import type { JsonObject } from '../../../core/json.js';
import { UploadedFile } from '../../../platform/http/request/uploaded-file.js';
import type { ReceivedFiles, SlackApi } from '../parts.js';
import { SlackCallError } from './call-error.js';

/** Files of one message. Slack itself allows ten. */
const mostFiles = 20;
const unreadable = 'the app may not read it: is the scope files:read granted?';

/** Downloads the files of a message. What cannot be taken is named with the reason, which the run receives. */
export async function receivedFiles(
  api: SlackApi,
  files: readonly JsonObject[],
  mostBytes: number,
  signal: AbortSignal,
): Promise<ReceivedFiles> {
  const taken: UploadedFile[] = [];
  const skipped: string[] = [];
  let left = mostBytes;
  for (const [at, file] of files.entries()) {
    const name = String(file.name ?? file.title ?? file.id ?? 'file');
    const refusal = at < mostFiles ? refusalOf(file, left) : `more than ${mostFiles} files`;
    const read = refusal ?? (await bytesOf(api, file, left, signal));
    if (typeof read === 'string') skipped.push(`${name} (${read})`);
    else {
      left -= read.byteLength;
      taken.push(new UploadedFile(name, typeof file.mimetype === 'string' ? file.mimetype : '', read));
    }
  }
  return { fields: taken.length > 0 ? { files: taken } : {}, skipped };
}

function refusalOf(
  { size, url_private_download: url, mode }: JsonObject,
  mostBytes: number,
): string | undefined {
  if (mode === 'hidden_by_limit' || mode === 'tombstone') return 'Slack no longer has it';
  if (typeof url !== 'string') return 'it cannot be downloaded';
  if (size === 0) return 'it is empty';
  return typeof size === 'number' && size > mostBytes ? `larger than ${mostBytes} bytes` : undefined;
}

/** The bytes, or why there are none. */
async function bytesOf(
  api: SlackApi,
  { url_private_download: url, size }: JsonObject,
  mostBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array | string> {
  try {
    const bytes = await api.download(String(url), mostBytes, signal);
    // who may not read files gets a page to sign in, with the status of success
    if (typeof size === 'number' && size !== bytes.byteLength) return unreadable;
    return bytes.byteLength === 0 ? 'it is empty' : bytes;
  } catch (error) {
    if (!(error instanceof SlackCallError) || error.retryable) throw error;
    // or is sent to that page
    if (/^http-30\d$/.test(error.code)) return unreadable;
    return error.code === 'too-large' ? `larger than ${mostBytes} bytes` : `Slack answered ${error.code}`;
  }
}
