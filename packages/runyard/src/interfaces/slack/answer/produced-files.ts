import type { JsonObject } from '../../../core/json.js';
import { objectsIn } from '../../common/answers/question.js';
import type { UploadedFile } from '../parts.js';

/** Lists of the body of a run with what it made, and the ending of a file whose name is not known. */
const lists: Readonly<Record<string, string>> = { images: 'png', audio: 'wav', videos: 'mp4', files: 'bin' };

type Body = Readonly<Record<string, unknown>>;

/** The files that a run made, in their order. */
export function producedFiles(body: Body): UploadedFile[] {
  return producedIn(body).flatMap(({ item, ending, at }) => {
    const { content, mime_type: type, filename, format } = item;
    if (typeof content !== 'string' || content === '') return [];
    const mimeType = typeof type === 'string' ? type : undefined;
    const extension =
      typeof format === 'string' ? format : (mimeType?.split('/')[1]?.split('+')[0] ?? ending);
    const name = typeof filename === 'string' && filename !== '' ? filename : `${at + 1}.${extension}`;
    return [{ name, bytes: Buffer.from(content, 'base64'), mimeType }];
  });
}

/** Where the files are that have no bytes here. */
export function linksIn(body: Body): string[] {
  return producedIn(body).flatMap(({ item: { url, content } }) =>
    typeof url === 'string' && typeof content !== 'string' ? [url] : [],
  );
}

function producedIn(body: Body): { item: JsonObject; ending: string; at: number }[] {
  const listed = Object.entries(lists).flatMap(([name, ending]) =>
    objectsIn(body[name]).map((item) => ({ item, ending })),
  );
  const said = objectsIn([body.response_audio]).map((item) => ({ item, ending: 'wav' }));
  return [...listed, ...said].map((one, at) => ({ ...one, at }));
}
