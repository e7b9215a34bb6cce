import type { Wire } from './request.js';

/** A longer line is useless: the seed repeats the request. */
const longestBody = 4000;
const longestTarget = 2000;

/** The request as a line for a shell. */
export function curlLine(url: string, { method, target, headers, body }: Wire): string {
  const parts = ['curl -sS -i --path-as-is', `-X ${method}`, shell(Buffer.from(url + cut(target)))];
  for (const [name, value] of headers) parts.push(`-H ${shell(Buffer.from(`${name}: ${value}`, 'latin1'))}`);
  if (body !== null) {
    parts.push(`--data-binary ${shell(body.subarray(0, longestBody))}`);
    if (body.length > longestBody) parts.push(`# the first ${longestBody} of ${body.length} bytes`);
  }
  return parts.join(' ');
}

function cut(target: string): string {
  return target.length > longestTarget ? `${target.slice(0, longestTarget)}...` : target;
}

/** Quoted such that every byte arrives. */
function shell(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  if (/^[\x20-\x7e]*$/.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = text.replace(/[^\x20-\x7e]|['\\]/g, (character) => {
    if (character === "'" || character === '\\') return `\\${character}`;
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `$'${escaped}'`;
}
