import { expect, test } from 'vitest';
import { loadSettings } from './config.js';

test('a service that changes its lists and maps changes no default of another', () => {
  const { trustedProxies, manifest } = loadSettings().settings;
  trustedProxies.push('10.0.0.0/8');
  manifest.a = { description: 'mine' };
  expect(loadSettings().settings).toMatchObject({ trustedProxies: [], manifest: {} });
});
