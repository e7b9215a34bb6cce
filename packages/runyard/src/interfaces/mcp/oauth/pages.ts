import { createHash } from 'node:crypto';
import type { ConsentQuestion } from '../../../capabilities/mcp-oauth/schema.js';
import { ContentReply } from '../../../platform/http/response/results.js';

const style = `
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 34rem; padding: 3rem 1.25rem; }
h1 { font-size: 1.4rem; line-height: 1.25; }
dt { font-weight: 600; margin-top: .75rem; }
dd { margin: 0; overflow-wrap: anywhere; }
label { display: block; font-weight: 600; margin-top: 1.5rem; }
input { box-sizing: border-box; font: inherit; margin: .25rem 0 1.25rem; padding: .5rem; width: 100%; }
button { font: inherit; margin-right: .5rem; padding: .5rem 1.25rem; }
[role=alert] { border-left: .25rem solid #c00; padding: .25rem .75rem; }
`;

const styleHash = createHash('sha256').update(style).digest('base64');

/** No script, no foreign content, in no frame. No `form-action`: browsers would apply it to the redirect to the client. */
const headers: Readonly<Record<string, string>> = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'`,
  'x-frame-options': 'DENY',
  // without it, a browser hides from us that the form was our own page's
  'referrer-policy': 'same-origin',
};

function page(
  title: string,
  content: string,
  status: number,
  further: Readonly<Record<string, string>> = {},
): ContentReply {
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${content}
</main>
</body>
</html>
`;
  return new ContentReply(text, 'text/html; charset=utf-8', { ...headers, ...further }, status);
}

export interface ConsentPage extends ConsentQuestion {
  readonly service: string;
  readonly action: string;
  readonly transaction: string;
  readonly formToken: string;
  readonly cookie: string;
  readonly fault?: { readonly text: string; readonly status: number; readonly retryAfterSeconds?: number };
}

/** Asks a person whether a client may act for them. */
export function consentPage(asked: ConsentPage): ContentReply {
  const { client, request, service, fault } = asked;
  const { status = 200, retryAfterSeconds } = fault ?? {};
  const described = fault === undefined ? '' : ' aria-describedby="fault" aria-invalid="true"';
  const content = `
<p>A program asks for access to the agents of <strong>${escaped(service)}</strong>.</p>
<dl>
<dt>It calls itself</dt><dd>${escaped(client.name ?? 'nothing: it gave no name')}</dd>
<dt>It is identified as</dt><dd>${escaped(client.clientId)}</dd>
<dt>Access is sent to</dt><dd>${escaped(destinationOf(request.redirectUri))}</dd>
<dt>It may</dt><dd>${request.scopes.map((scope) => `<code>${escaped(scope)}</code>`).join(', ')}</dd>
</dl>
<p>Nobody has verified these statements. Approve only if you have just started to connect this program yourself.</p>
${fault === undefined ? '' : `<p role="alert" id="fault">${escaped(fault.text)}</p>`}
<form method="post" action="${escaped(asked.action)}">
<input type="hidden" name="txn" value="${escaped(asked.transaction)}">
<input type="hidden" name="csrf" value="${escaped(asked.formToken)}">
<label for="secret">Connect secret</label>
<input id="secret" name="secret" type="password" autocomplete="current-password" maxlength="1000"${described}>
<button name="decision" value="approve">Approve</button>
<button name="decision" value="deny">Deny</button>
</form>`;
  return page('Connect a program', content, status, {
    'set-cookie': asked.cookie,
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  });
}

/** Says what is wrong. The place that the client named is offered, and not gone to. */
export function noticePage(
  title: string,
  text: string,
  status: number,
  options: { readonly location?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): ContentReply {
  const { location } = options;
  const link =
    location === undefined
      ? ''
      : `<p>To report this to the program, open <a href="${escaped(location)}" rel="noreferrer">${escaped(destinationOf(location))}</a>. Continue only if you know this address.</p>`;
  return page(title, `<p role="alert">${escaped(text)}</p>\n${link}`, status, options.headers);
}

function destinationOf(uri: string): string {
  const { protocol, host } = new URL(uri);
  if (protocol === 'https:') return host;
  return protocol === 'http:'
    ? `${host} (this computer)`
    : `${protocol}//${host} (a program on this computer)`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  // what turns the direction of text around could make an address look like another one
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '').replace(/[&<>"']/g, (sign) => entities[sign] ?? '');
}
