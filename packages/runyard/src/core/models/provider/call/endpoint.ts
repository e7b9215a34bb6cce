import { errors } from '../../../errors/errors.js';

/** The address of an endpoint below a base URL, whose query is kept. */
export function endpoint(
  baseUrl: string,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.username || url?.password) {
    throw errors.invalidConfig(
      `The base URL of a model at ${url.host} holds a user name or password. Give them in headers.`,
    );
  }
  // `localhost:8000` is a URL with the scheme `localhost:`
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const shown = baseUrl.replace(/^.*@/s, '***@');
    throw errors.invalidConfig(
      `The base URL '${shown}' of a model is not an http or https URL. Give one such as http://127.0.0.1:8000/v1.`,
    );
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}
