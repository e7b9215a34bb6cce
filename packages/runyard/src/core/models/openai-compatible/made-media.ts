import { newId } from '../../ids.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Media, MediaContents } from '../../media/media.js';
import { storeMedia } from '../provider/answer/answer-media.js';

/** The pictures and the sound that a model made. */
export class MadeMedia {
  /** The addresses of pictures, with the bytes in them as a rule. A picture that is sent again is the same one. */
  readonly #images = new Set<string>();
  /** Base64 as it came. */
  readonly #audio: string[] = [];

  addImage({ image_url: image }: JsonObject): void {
    const url = isJsonObject(image) ? image.url : image;
    if (typeof url === 'string' && url !== '') this.#images.add(url);
  }

  addAudio(data: Json | undefined): void {
    if (typeof data === 'string') this.#audio.push(data);
  }

  /** A part of a `ModelResponse`. The sound is in the format that was asked for. */
  async part(contents: MediaContents, audioFormat: string): Promise<{ media?: readonly Media[] }> {
    const media: Media[] = [];
    for (const url of this.#images) {
      const [head, type] = /^data:([^;,]*)[^,]*,/.exec(url) ?? [];
      if (head !== undefined) {
        const bytes = Buffer.from(url.slice(head.length), 'base64');
        media.push(await storeMedia(contents, type || 'image/png', bytes));
      } else if (/^https?:/.test(url)) media.push({ kind: 'image', id: newId(), url });
    }
    // what ends with padding is complete in itself, the rest may be cut anywhere
    const encoded = this.#audio.join('').split(/=+/);
    const sound = Buffer.concat(encoded.map((data) => Buffer.from(data, 'base64')));
    const mimeType = audioTypes[audioFormat] ?? `audio/${audioFormat}`;
    if (sound.length > 0) media.push(await storeMedia(contents, mimeType, sound));
    return media.length > 0 ? { media } : {};
  }
}

/** The formats whose type has another name. `pcm16` is raw samples at 24 kHz, the one format of a stream. */
const audioTypes: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  pcm16: 'audio/pcm;rate=24000',
};
