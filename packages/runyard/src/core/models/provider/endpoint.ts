import { errors } from '../../errors.js';

/** The address of an endpoint below a base URL, whose query is kept. */
export function endpoint(
  baseUrl: string,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string {
  if (!URL.canParse(baseUrl)) {
    throw errors.invalidConfig(
      `The base URL '${baseUrl}' of a model is not a URL. Give one such as http://127.0.0.1:8000/v1.`,
    );
  }
  const url = new URL(baseUrl);
  if (url.username || url.password) {
    throw errors.invalidConfig(
      `The base URL of a model at ${url.host} holds a user name or password. Give them in headers.`,
    );
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}
