import { Agent, request } from 'node:http';

export const day = 86_400_000;

const connections = new Agent({ keepAlive: true });

export function get(path, query = {}) {
  const words = new URLSearchParams(query).toString();
  return { method: 'GET', path: words === '' ? path : `${path}?${words}` };
}

export function post(path, body) {
  return { method: 'POST', path, body };
}

/** Sends a request, and answers with how long it took until all of the answer was there. */
export function send(port, { method, path, body }) {
  const text = body && JSON.stringify(body);
  const headers = text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const options = { host: '127.0.0.1', port, path, method, headers, agent: connections };
    const sent = request(options, (response) => {
      const first = performance.now() - begun;
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const milliseconds = performance.now() - begun;
        const answer = Buffer.concat(chunks).toString();
        if (response.statusCode === 200) resolve({ milliseconds, first, body: JSON.parse(answer) });
        else reject(new Error(`${method} ${path} answered ${response.statusCode}: ${answer.slice(0, 500)}`));
      });
    });
    sent.on('error', reject);
    sent.end(text);
  });
}
