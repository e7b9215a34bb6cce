import type { Capability } from '../capability.js';
import { mediaFetch } from './fetch.js';
import { media as mediaContents } from './migrations/0002-media.js';
import { ownedMedia } from './migrations/0031-owned-media.js';
import { MediaService } from './service.js';

declare module '../capability.js' {
  interface RunSpace {
    readonly media: MediaService;
  }
}

export const media: Capability = {
  name: 'media',
  migrations: [mediaContents, ownedMedia],
  open({ settings }) {
    // one for all databases: what was fetched is kept once
    const fetch = mediaFetch(settings);
    return {
      inDatabase(database) {
        const media = new MediaService(database, { fetch });
        return { parts: { media }, ports: { media: media.contents } };
      },
    };
  },
};
