/** The longest endpoint. */
export const longestEndpoint = 512;

/** Why a text is no address within the service; undefined for one that is. */
export function endpointFault(endpoint: string): string | undefined {
  if (!endpoint.startsWith('/')) return "endpoint must start with '/'";
  if (endpoint.includes('://')) return "endpoint must be a path of this service, without '://'";
  // no parser may read it as anything but the path that it looks like
  if (!/^[\x21-\x7e]+$/.test(endpoint) || /[\\#]/.test(endpoint))
    return 'endpoint must be a percent-encoded path without blanks, backslashes and #';
  const path = pathOf(endpoint);
  if (path.includes('//')) return "endpoint must not contain '//'";
  if (decodedSegments(path) === undefined)
    return 'endpoint must be a percent-encoded path without the segments . and .. and without encoded slashes';
  return undefined;
}

function pathOf(endpoint: string): string {
  return endpoint.split('?', 1)[0] ?? '';
}

/** The segments of the path as the router reads them: decoded, and without slashes at the end. */
export function segmentsOf(endpoint: string): readonly string[] {
  return decodedSegments(pathOf(endpoint).replace(/(?<=.)\/+$/, '')) ?? [];
}

/** The segments of a path; undefined when one of them could lead elsewhere. */
function decodedSegments(path: string): readonly string[] | undefined {
  try {
    const segments = path.split('/').slice(1).map(decodeURIComponent);
    return segments.some((one) => one === '.' || one === '..' || /[/\\]/.test(one)) ? undefined : segments;
  } catch {
    return undefined;
  }
}
