import type { Media } from './media.js';
import { having, required, text, word } from './options/kinds.js';

const kind = required(word('image', 'audio', 'video', 'file'));

/** Media whose bytes are somewhere already. */
export const media = having<Pick<Media, 'kind' | 'id'>>('media with kind and id', {
  kind,
  id: required(text),
});
