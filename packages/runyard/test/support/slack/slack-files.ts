import type { ServerResponse } from 'node:http';
import { type Fields, Refused, type Workspace } from './workspace.js';

export interface UploadedToSlack {
  readonly id: string;
  readonly filename: string;
  bytes: Buffer;
  channel?: string;
  threadTs?: string;
}

/** The files of the double: those that people sent, and those that the app uploads. */
export class SlackFiles {
  readonly uploads: UploadedToSlack[] = [];
  private readonly sent = new Map<string, { type: string; bytes: Buffer }>();

  constructor(
    private readonly port: number,
    private readonly workspace: Workspace,
  ) {}

  /** A file as an event has it. */
  add(name: string, mimetype: string, bytes: Uint8Array): Fields {
    const id = `F${this.sent.size + 1}`;
    this.sent.set(`/files/${id}`, { type: mimetype, bytes: Buffer.from(bytes) });
    const url = `http://127.0.0.1:${this.port}/files/${id}`;
    return { id, name, mimetype, size: bytes.byteLength, url_private: url, url_private_download: url };
  }

  uploadUrl({ filename, length }: Fields): Fields {
    if (!(Number(length) > 0)) throw new Refused('invalid_arguments', 'an upload without bytes');
    const id = `F9${this.uploads.length}`;
    this.uploads.push({ id, filename, bytes: Buffer.alloc(0) });
    return { file_id: id, upload_url: `http://127.0.0.1:${this.port}/upload/${id}/${length}` };
  }

  completed({ files, channel_id: channel, thread_ts: threadTs }: Fields): Fields {
    for (const { id } of files) {
      const upload = this.uploads.find((one) => one.id === id);
      if (upload === undefined || upload.bytes.length === 0) throw new Refused('file_not_found', id);
      Object.assign(upload, { channel, threadTs });
      this.workspace.share(channel, threadTs, { id });
    }
    return { files };
  }

  take(path: string, body: Buffer, response: ServerResponse): void {
    const [, , id, length] = path.split('/');
    const upload = this.uploads.find((one) => one.id === id);
    const isWhole = upload !== undefined && Number(length) === body.length;
    if (isWhole) upload.bytes = body;
    response.writeHead(isWhole ? 200 : 400).end(isWhole ? `OK - ${length}` : 'unexpected length');
  }

  /** Who has no token gets the page to sign in, with the status 200. */
  serve(
    path: string,
    { isKnown, status }: { isKnown: boolean; status: number | undefined },
    response: ServerResponse,
  ): void {
    const file = this.sent.get(path);
    if (status !== undefined) response.writeHead(status, { location: '/sign-in' }).end();
    else if (!isKnown) response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in');
    else if (file === undefined) response.writeHead(404).end();
    else
      response
        .writeHead(200, { 'content-type': file.type, 'content-length': file.bytes.length })
        .end(file.bytes);
  }
}
