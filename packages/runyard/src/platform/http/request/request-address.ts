/** `GET http://host/path`, as a client speaks to a proxy, asks for the same as `GET /path`. */
export function originForm(url: string): string {
  if (url.charCodeAt(0) === 0x2f) return url;
  const rest = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(.*)$/is.exec(url)?.[1];
  if (rest === undefined) return url;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Any number of slashes at the end of a path means the same path; `/` stays, and `//` is no path of ours. */
export function withoutTrailingSlashes(url: string): string {
  const query = url.indexOf('?');
  let end = query === -1 ? url.length : query;
  if (end <= 1 || url.charCodeAt(end - 1) !== 0x2f) return url;
  while (end > 0 && url.charCodeAt(end - 1) === 0x2f) end--;
  if (end === 0) return url;
  return query === -1 ? url.slice(0, end) : url.slice(0, end) + url.slice(query);
}
