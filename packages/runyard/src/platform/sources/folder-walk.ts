import { errors } from '../../core/errors/errors.js';
import type { RemotePage, RemoteQuery } from './file-source.js';

const mostFolders = 20_000;

/** The pages of a service that lists one folder at a time. `children` names folders with a slash at their end. */
export async function* walkFolders(
  { prefix, delimiter }: RemoteQuery,
  children: (folder: string) => AsyncIterable<RemotePage>,
): AsyncGenerator<RemotePage> {
  checkDelimiter(delimiter);
  // what follows the last slash is the beginning of a name
  const folders = [prefix.slice(0, prefix.lastIndexOf('/') + 1)];
  for (const folder of folders) {
    for await (const page of children(folder)) {
      const files = page.files.filter(({ key }) => key.startsWith(prefix));
      const found = page.folders.filter((path) => path.startsWith(prefix));
      yield { files, folders: delimiter === '/' ? found : [] };
      if (delimiter === '/') continue;
      folders.push(...found);
      if (folders.length > mostFolders) throw errors.sourceFolderTooLarge(prefix, mostFolders);
    }
  }
}

export function checkDelimiter(delimiter: string): void {
  if (delimiter !== '/' && delimiter !== '')
    throw errors.sourceListingRefused("The delimiter of this source is '/', or empty for no folders.");
}
