import { expect, test } from 'vitest';
import { loadSettings } from '../../../platform/settings/config.js';
import { mcp } from '../interface.js';
import { oauthConfig } from './options.js';

const secret = 'correct horse battery';
const signingKey = 'k'.repeat(32);
const settingsOf = (code: Record<string, unknown> = {}) => loadSettings({ code }).settings;

test('settings win over code, and what is left out is what a client usually needs', () => {
  const other = { mcpOauthSecret: 'another long secret', mcpOauthSigningKey: 'o'.repeat(32) };
  expect(oauthConfig({ secret, signingKey }, settingsOf(other))).toEqual({
    secret: other.mcpOauthSecret,
    signingKey: other.mcpOauthSigningKey,
    scopes: ['agents:run', 'teams:run', 'workflows:run', 'sessions:read', 'config:read'],
  });
  const scopes = ['agents:writer:run', 'agents:writer:run'];
  expect(oauthConfig({ secret, signingKey, scopes }, settingsOf()).scopes).toEqual(['agents:writer:run']);
});

test.each([
  [{ signingKey }, /RUNYARD_MCP_OAUTH_SECRET/],
  [{ secret }, /RUNYARD_MCP_OAUTH_SIGNING_KEY/],
  [{ secret: signingKey, signingKey }, /are the same/],
  [{ secret, signingKey, scopes: ['agent_os:admin'] }, /no admin/],
])('%j is refused before the service opens', (options, fault) => {
  expect(() => oauthConfig(options, settingsOf())).toThrow(fault);
});

test('a secret that can be guessed is refused and not shown, and a typo leaves no gate open', () => {
  const short = 'too short';
  for (const oauth of [{ secret: short }, { signingKey: short }, { secret: ' '.repeat(40) }]) {
    expect(() => mcp({ oauth })).toThrow(/characters/);
    expect(() => mcp({ oauth })).not.toThrow(short);
  }
  expect(() => mcp({ oauth: { scopes: [] } })).toThrow(/scopes/);
  expect(() => mcp({ oauth: { scopes: ['everything'] } })).toThrow(/scopes/);
  // a key that the types would refuse
  expect(() => mcp({ oauth: { sceret: secret } as object })).toThrow(/Did you mean/);
  expect(() => settingsOf({ mcpOauthSecret: short })).toThrow(/mcpOauthSecret/);
  expect(() => settingsOf({ mcpOauthSecret: short })).not.toThrow(short);
});
