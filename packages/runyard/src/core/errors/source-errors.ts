import { define, RunyardError } from './runyard-error.js';

/** Contents of buckets, repositories and document libraries that cannot be named, found or fetched. */
export const sourceErrors = {
  sourcePathRefused: define(
    'source_path_refused',
    400,
    (path: string, why: string) => `Path '${path.slice(0, 200)}' ${why}`,
  ),
  sourceParametersRefused: define('source_params_refused', 400, (text: string) => text),
  sourceWithoutRepository: define(
    'source_without_repository',
    400,
    (id: string) =>
      `GitHub config '${id}' has no 'repo' set. Provide source_params={"repo": "owner/repo"} with the request, or configure a default on the source.`,
  ),
  sourceListingRefused: define('source_listing_refused', 400, (text: string) => text),
  sourceFolderTooLarge: define(
    'source_folder_too_large',
    400,
    (path: string, bound: number) =>
      `Folder '${path}' has more than ${bound} files. Name a smaller folder, or set maxFiles of the source higher.`,
  ),
  /** Of the container that a source stands for: `Bucket 'x' does not exist`. */
  sourceContainerMissing: define(
    'source_container_missing',
    404,
    (kind: string, name: string) => `${kind} '${name}' does not exist`,
  ),
  sourceFileMissing: define(
    'source_file_missing',
    404,
    (id: string, path: string) => `Source '${id}' has no file or folder '${path.slice(0, 200)}'.`,
  ),
  sourceCredentialsRefused: (service: string, cause?: unknown) =>
    new RunyardError(
      'source_credentials_refused',
      401,
      `Invalid or missing ${service} credentials for this source`,
      {
        cause,
      },
    ),
  /** `work` as in `list files`. */
  sourceFailed: define(
    'source_failed',
    502,
    (work: string, reason: string) => `Failed to ${work}: ${reason}`,
  ),
} as const;
