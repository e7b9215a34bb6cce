const longest = 2000;

/** They lead nowhere, or to code or files of the visitor's own browser. */
const refusedSchemes = new Set([
  'about:',
  'blob:',
  'chrome:',
  'data:',
  'file:',
  'filesystem:',
  'ftp:',
  'javascript:',
  'mailto:',
  'tel:',
  'vbscript:',
  'view-source:',
  'ws:',
  'wss:',
]);

/** What is wrong with an address that a client wants to be sent back to; undefined: nothing. */
export function redirectFault(uri: string): string | undefined {
  if (uri.length > longest) return `a redirect URI has more than ${longest} characters`;
  // no character that browsers and servers read differently, or that ends a header
  if (!/^[!-~]+$/.test(uri) || /[\\^`{|}<>"]/.test(uri) || !URL.canParse(uri))
    return 'a redirect URI is not a URL';
  const url = new URL(uri);
  if (uri.includes('#')) return 'a redirect URI has a fragment';
  if (url.username !== '' || url.password !== '') return 'a redirect URI has a user name or a password';
  if (refusedSchemes.has(url.protocol)) return `a redirect URI begins with ${url.protocol}`;
  if (url.protocol === 'http:' && !isLoopback(url))
    return 'a redirect URI with http: leads beyond the loopback address; use https:';
  return undefined;
}

/** Whether an address is one of those that the client registered. A program on the own machine may choose its port. */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (registered.includes(uri)) return true;
  if (redirectFault(uri) !== undefined) return false;
  const url = new URL(uri);
  if (url.protocol !== 'http:') return false;
  return registered.some((one) => {
    const known = new URL(one);
    return isLoopback(known) && withoutPort(known) === withoutPort(url);
  });
}

/** Whether only a program on the visitor's own machine gets what is sent there. */
export function isLocal(uri: string): boolean {
  const url = new URL(uri);
  return isLoopback(url) || (url.protocol !== 'https:' && url.protocol !== 'http:');
}

const loopbackNames = new Set(['localhost', '127.0.0.1', '[::1]']);

function isLoopback({ protocol, hostname }: URL): boolean {
  return (protocol === 'http:' || protocol === 'https:') && loopbackNames.has(hostname);
}

function withoutPort(url: URL): string {
  const copy = new URL(url);
  copy.port = '';
  return copy.href;
}

/** The address with the answer of the authorization server, beside what it has in its query already. */
export function withAnswer(uri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) given.set(name, value);
  const query = given.toString();
  return uri + (uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?') + query;
}
