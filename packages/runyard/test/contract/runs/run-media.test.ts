import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, type ModelRequest } from '../../../src/index.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, type FormValue, TestService } from '../../support/service.js';

const book = new ScriptBook();
const looking = agent({ id: 'a', model: book.model });
let service: TestService;

beforeAll(async () => {
  service = await TestService.start({
    agents: [looking],
    maxUploadBytes: 100_000,
    maxFiles: 5,
  });
});
afterAll(() => service.stop());

const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3, 0xff]);
const base64 = Buffer.from(bytes).toString('base64');
const file = (name: string, type = '', content: string | Uint8Array<ArrayBuffer> = bytes) =>
  new File([content], name, { type });

describe('an uploaded file', () => {
  test.each([
    ['picture.png', 'image/png', 'images', 'image/png'],
    ['photo.jpg', '', 'images', 'image/jpeg'],
    ['scan.tiff', 'image/tiff', 'images', 'image/tiff'],
    ['photo.heic', 'application/octet-stream', 'images', 'image/heic'],
    ['voice.wav', 'audio/wav', 'audios', 'audio/wav'],
    ['song.mp3', '', 'audios', 'audio/mpeg'],
    ['film.mp4', 'video/mp4', 'videos', 'video/mp4'],
    ['film.mov', '', 'videos', 'video/quicktime'],
    ['paper.pdf', 'application/pdf', 'files', 'application/pdf'],
    ['table.xlsx', '', 'files', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ['data.json', 'application/json', 'files', 'application/json'],
    ['archive.zip', 'application/zip', 'files', 'application/zip'],
    ['archive.zip', '', 'files', 'application/zip'],
    ['letter.eml', 'message/rfc822', 'files', 'message/rfc822'],
    ['letter.eml', '', 'files', 'message/rfc822'],
    ['NOTES.MD', '', 'files', 'text/markdown'],
  ])('%s (%s) counts among the %s', async (name, type, group, mimeType) => {
    const { status, body } = await service.run('a', { message: 'look', files: [file(name, type)] });
    expect(status).toBe(200);
    expect(Object.keys(body.input).sort()).toEqual([group, 'input_content'].sort());
    expect(body.input[group]).toEqual([
      expect.objectContaining({ id: expect.any(String), mime_type: mimeType, content: expect.any(String) }),
    ]);
  });

  test('reaches the model with its bytes and comes back as it was', async () => {
    const message = 'see this picture';
    const { body } = await service.run('a', { message, files: [file('picture.png', 'image/png')] });
    const [sent] = await mediaSeen(book.requests(message)[0]!);
    expect(sent).toMatchObject({ kind: 'image', mimeType: 'image/png', bytes });
    for (const run of [body, (await service.get(`/agents/a/runs/${body.run_id}`)).body]) {
      expect(run.input.images).toHaveLength(1);
      expect(run.input.images[0]).toMatchObject({
        content: base64,
        mime_type: 'image/png',
        filename: 'picture.png',
      });
      const user = run.messages.find(({ role }: Body) => role === 'user');
      expect(user.images).toHaveLength(1);
    }
  });

  test('of text is shown as text', async () => {
    const text = 'Grüße\nfrom a file';
    const { body } = await service.run('a', {
      message: 'read',
      files: [file('note.txt', 'text/plain', text)],
    });
    expect(body.input.files[0]).toMatchObject({
      content: text,
      mime_type: 'text/plain',
      filename: 'note.txt',
    });
  });

  test('may come with others of other kinds', async () => {
    const files = [file('a.png'), file('b.txt', '', 'text'), file('c.png'), file('d.wav')];
    const { body } = await service.run('a', { message: 'all', files });
    expect(body.input.images.map(({ filename }: Body) => filename)).toEqual(['a.png', 'c.png']);
    expect(body.input.files).toHaveLength(1);
    expect(body.input.audios).toHaveLength(1);
  });

  test.each([
    ['virus.exe', 'application/x-msdownload'],
    ['virus.exe', ''],
    ['nameless', ''],
    ['picture.svg', 'image/svg+xml'],
    ['image.png', 'application/x-unheard-of'],
  ])('%s (%s) of no known type refuses the whole request', async (name, type) => {
    const before = (await service.get('/agents/a/runs?limit=1')).body[0]?.run_id;
    const files = [file('fine.png'), file(name, type)];
    const { status, body } = await service.run('a', { message: 'look', files });
    expect(status).toBe(400);
    expect(body).toMatchObject({ detail: 'Unsupported file type', error_code: 'unsupported_file_type' });
    expect((await service.get('/agents/a/runs?limit=1')).body[0]?.run_id).toBe(before);
  });

  test('that is empty is refused', async () => {
    const { status, body } = await service.run('a', {
      message: 'look',
      files: [file('empty.txt', 'text/plain', '')],
    });
    expect(status).toBe(400);
    expect(body).toMatchObject({ detail: 'Empty file', error_code: 'empty_file' });
  });

  test('under another field name is no file of the run', async () => {
    const { status, body } = await service.run('a', { message: 'look', attachment: [file('a.png')] });
    expect(status).toBe(200);
    expect(Object.keys(body.input)).toEqual(['input_content']);
  });

  test('cannot be the message, and text cannot be a file', async () => {
    const asMessage = await service.run('a', { message: [file('a.txt', 'text/plain')] });
    expect(asMessage.status).toBe(422);
    expect(asMessage.body.detail[0].loc).toEqual(['body', 'message']);
    for (const encoding of ['multipart', 'urlencoded'] as const) {
      const asText = await service.run('a', { message: 'look', files: 'not a file' }, { encoding });
      expect(asText.status).toBe(422);
      expect(asText.body.detail[0].loc.slice(0, 2)).toEqual(['body', 'files']);
    }
  });

  test('too large, or too many of them, is refused with the bound', async () => {
    const large = await service.run('a', {
      message: 'look',
      files: [file('a.png', '', new Uint8Array(100_001))],
    });
    expect(large.status).toBe(413);
    expect(large.body.detail).toMatch(/100000 bytes.*maxUploadBytes/);
    expect(large.body.error_code).toBe('payload_too_large');
    const many = Array.from({ length: 6 }, (_, index) => file(`${index}.png`));
    const tooMany = await service.run('a', { message: 'look', files: many });
    expect(tooMany.status).toBe(413);
    expect(tooMany.body.detail).toMatch(/5.*maxFiles/);
  });

  test('keeps a name that is not plain ASCII, and nothing of a path in it is followed', async () => {
    for (const name of ['Übersicht (1).txt', '../../etc/passwd.txt']) {
      const { body } = await service.run('a', { message: 'look', files: [file(name, 'text/plain', 'mine')] });
      expect(body.input.files[0]).toMatchObject({ filename: name, content: 'mine' });
    }
  });
});

describe('a media object in JSON', () => {
  const fields = { images: 'images', audio: 'audios', videos: 'videos', input_files: 'files' };

  test.each(Object.entries(fields))('in %s may be bytes or an address', async (field, group) => {
    const url = 'https://media.example.com/thing';
    const { status, body } = await service.run('a', {
      message: `media in ${field}`,
      [field]: [
        { content: base64, mime_type: 'application/pdf' },
        { url, id: 'mine' },
      ],
    });
    expect(status).toBe(200);
    expect(body.input[group]).toEqual([
      expect.objectContaining({ content: base64 }),
      expect.objectContaining({ id: 'mine', url }),
    ]);
    const seen = await mediaSeen(book.requests(`media in ${field}`)[0]!);
    expect(seen[0]!.bytes).toEqual(bytes);
    expect(seen[1]).toMatchObject({ url });
  });

  test('keeps its details', async () => {
    const image = {
      content: base64,
      format: 'png',
      mime_type: 'image/png',
      alt_text: 'a dot',
      detail: 'high',
    };
    const audio = { content: base64, format: 'wav', sample_rate: 8000, transcript: 'hello' };
    const { body } = await service.run('a', { message: 'look', images: [image], audio: [audio] });
    expect(body.input.images[0]).toMatchObject(image);
    expect(body.input.audios[0]).toMatchObject(audio);
  });

  test('never makes the service read a file of its own', async () => {
    for (const [field] of Object.entries(fields)) {
      for (const media of [{ filepath: '/etc/passwd' }, { filepath: '/etc/passwd', content: base64 }]) {
        const { status, body } = await service.run('a', { message: 'look', [field]: [media] });
        expect(status).toBe(422);
        expect(body.detail[0].loc).toEqual(['body', field, 0, 'filepath']);
      }
      for (const url of ['file:///etc/passwd', '/etc/passwd', 'ftp://example.com/x']) {
        const { status, body } = await service.run('a', { message: 'look', [field]: [{ url }] });
        expect(status).toBe(422);
        expect(body.detail[0].loc).toEqual(['body', field, 0, 'url']);
      }
    }
  });

  test('needs exactly one source', async () => {
    for (const media of [
      {},
      { content: base64, url: 'https://example.com/x' },
      { content: null, url: null },
    ]) {
      const { status, body } = await service.run('a', { message: 'look', images: [media] });
      expect(status).toBe(422);
      expect(body.detail[0].loc).toEqual(['body', 'images', 0]);
    }
  });

  test('with bytes that are not base64 is refused', async () => {
    for (const content of ['***', 'abc$', '', 5]) {
      const { status, body } = await service.run('a', {
        message: 'look',
        images: [{ url: 'https://e.com/x' }, { content }],
      });
      expect(status, String(content)).toBe(422);
      expect(body.detail[0].loc.slice(0, 3)).toEqual(['body', 'images', 1]);
    }
  });

  test('of a text document may be the text or its base64, and arrives as the text', async () => {
    const text = 'Plain words, not base64!';
    for (const [position, content] of [text, Buffer.from(text).toString('base64')].entries()) {
      const message = `text document ${position}`;
      const form: Record<string, FormValue> = {
        message,
        input_files: [{ content, mime_type: 'text/plain', filename: 'a.txt' }],
      };
      const { body } = await service.run('a', form);
      expect(body.input.files[0]).toMatchObject({ content: text, filename: 'a.txt' });
      const [seen] = await mediaSeen(book.requests(message)[0]!);
      expect(Buffer.from(seen!.bytes!).toString()).toBe(text);
    }
  });

  test('may be a data address', async () => {
    const { body } = await service.run('a', {
      message: 'look',
      images: [{ url: `data:image/png;base64,${base64}` }],
    });
    expect(body.input.images[0]).toMatchObject({ content: base64, mime_type: 'image/png' });
  });
});

test('media are described in lists and not carried there', async () => {
  const { body } = await service.run('a', { message: 'look', files: [file('a.png', 'image/png')] });
  const list = await service.get(`/agents/a/runs?session_id=${body.session_id}`);
  expect(list.body[0].input_media).toMatchObject({
    images: [{ filename: 'a.png' }],
    videos: [],
    audios: [],
    files: [],
  });
  expect(list.text).not.toContain(base64);
});

interface SeenMedia {
  readonly kind: string;
  readonly mimeType?: string;
  readonly url?: string;
  readonly bytes?: Uint8Array;
}

/** The media of the last message, with the bytes that a model adapter would send. */
async function mediaSeen({ messages, media }: ModelRequest): Promise<SeenMedia[]> {
  const attached = messages.at(-1)?.media ?? [];
  return Promise.all(
    attached.map(async (item) => {
      const content = item.hash === undefined ? undefined : await media?.get(item.hash);
      return { ...item, ...(content && { bytes: new Uint8Array(content) }) };
    }),
  );
}

test('a run in code has the same media as one over HTTP', async () => {
  const picture = file('picture.png', 'image/png');
  const { body: uploaded } = await service.run('a', { message: 'over HTTP', files: [picture] });
  const { runId } = await looking.run('in code', { files: [picture] });
  const { body } = await service.get(`/agents/a/runs/${runId}`);
  const shown = ({ id: _, ...image }: Body) => image;
  expect(body.input.images.map(shown)).toEqual(uploaded.input.images.map(shown));
  expect(await mediaSeen(book.requests('in code')[0]!)).toMatchObject([{ kind: 'image', bytes }]);
});
