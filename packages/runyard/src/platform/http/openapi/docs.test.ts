import { expect, test } from 'vitest';
import { startServer } from '../../../../test/support/clients/http-server.js';

test('the API browser is served whole from here, and nothing in it points elsewhere', async () => {
  const { url } = await startServer([]);
  for (const path of ['/docs', '/docs/']) {
    const response = await fetch(url + path);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|\*/);
    const page = await response.text();
    expect(page).not.toMatch(/https?:\/\//);
    const files = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map((match) => match[1]);
    expect(files).toHaveLength(4);
    for (const file of files) {
      const asset = await fetch(new URL(file as string, url));
      expect([file, asset.status]).toEqual([file, 200]);
      expect(asset.headers.get('cache-control')).toBeTruthy();
      expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
  }
});

test('the start script names our description and no validation service', async () => {
  const { url } = await startServer([]);
  const response = await fetch(`${url}/docs/assets/start.js`);
  expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  const script = await response.text();
  expect(script).toContain('"/openapi.json"');
  expect(script).toContain('validatorUrl: null');
});

test('no other file can be asked for', async () => {
  const { url } = await startServer([]);
  for (const file of ['package.json', '..%2Fpackage.json', 'constructor', '__proto__', 'swagger-ui.js']) {
    expect((await fetch(`${url}/docs/assets/${file}`)).status).toBe(404);
  }
});

test('the browser can be turned off; the description stays', async () => {
  const { url } = await startServer([], { settings: { docs: false } });
  expect((await fetch(`${url}/docs`)).status).toBe(404);
  expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
});
