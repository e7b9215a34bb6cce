import { describe, expect, test } from 'vitest';
import {
  authenticated,
  cancel,
  startEndless,
  startSockets,
} from '../../../test/support/clients/socket-server.js';
import { WsClient } from '../../../test/support/clients/ws-client.js';
import { gate } from '../../../test/support/until.js';

const required = {
  event: 'auth_required',
  error: 'Authentication required. Send authenticate action with valid JWT.',
};

describe('who speaks', () => {
  test('is what the last accepted token says', async () => {
    const { url, runs } = await startSockets();
    const client = await WsClient.connect(url, '/agents/ws');
    expect(await client.ask(cancel)).toEqual(required);
    expect(await client.ask({ action: 'no such' })).toEqual(required);
    expect(await client.ask({ action: 'authenticate', token: 'wrong' })).toEqual({
      event: 'auth_error',
      error: 'Signature verification failed',
      error_type: 'invalid_token',
      error_code: 'invalid_token',
    });
    for (const [token, name] of [
      ['right', 'alice'],
      ['token of bob', 'bob'],
    ]) {
      client.send({ action: 'authenticate', token });
      await client.event('authenticated', ({ user_id }) => user_id === name);
    }
    await client.ask({ action: 'authenticate', token: 'wrong' });
    expect(await client.ask(cancel)).toEqual({ event: 'cancel_requested', run_id: 'r' });
    expect(runs.callers.map(({ userId }) => userId)).toEqual(['bob']);
  });

  test('is asked again for every action', async () => {
    const { url, runs, tokens } = await startSockets();
    const client = await authenticated(url);
    tokens.withdraw();
    expect(await client.ask(cancel)).toEqual({ ...required, error_type: 'invalid_token' });
    expect(runs.callers).toEqual([]);
  });

  test('is not lost when it cannot be looked up for the moment', async () => {
    const { url, tokens, runs } = await startSockets({ limits: { recheckMs: 20 } });
    const client = await authenticated(url);
    client.send(startEndless);
    await client.event('Piece');
    tokens.breakDown();
    client.send(cancel);
    expect(await client.event('error')).toMatchObject({
      error_code: 'authentication_unavailable',
      action: 'cancel-agent',
    });
    const seen = runs.pieces;
    await client.until(() => runs.pieces > seen + 10);
    expect(client.names).not.toContain('auth_required');
  });
});

describe('a run that is followed', () => {
  test('stops when the token ends, and can be resumed', async () => {
    const { url, tokens, runs } = await startSockets();
    const client = await authenticated(url);
    client.send(startEndless);
    await client.event('Piece');
    tokens.expiresAt = Date.now() + 50;
    await client.ask(cancel);
    const { runs: stopped, ...frame } = await client.event('auth_required');
    expect(frame).toEqual({ ...required, error_type: 'expired' });
    expect(stopped).toEqual([{ run_id: 'endless', last_event_index: expect.any(Number) }]);
    expect(runs.closed).toBe(true);
    const last = client.frames.findLast(({ payload }) => payload.event === 'Piece')?.payload.of;
    expect(last).toBe(stopped[0].last_event_index);
    expect(await client.ask(cancel)).toEqual({ ...required, error_type: 'expired' });
    tokens.expiresAt = null;
    client.send({ action: 'authenticate', token: 'right' });
    client.send(startEndless);
    await client.event('Piece', ({ of }) => of > last);
  });

  test('is not sent at all when the token ended while it was being started', async () => {
    const { url, tokens, runs } = await startSockets();
    const begun = gate();
    runs.ready = begun.opened;
    const client = await authenticated(url);
    tokens.expiresAt = Date.now();
    client.send(startEndless);
    await client.event('auth_required');
    begun.open();
    const stopped = [{ run_id: 'endless', last_event_index: -1 }];
    expect(await client.event('auth_required', ({ runs }) => runs !== undefined)).toMatchObject({
      runs: stopped,
    });
    await client.ask({ action: 'ping' });
    expect(client.names).not.toContain('Piece');
    expect(runs.closed).toBe(true);
  });

  test('stops when the token was withdrawn, also for a client that only listens', async () => {
    const { url, tokens, runs } = await startSockets({ limits: { recheckMs: 20 } });
    const client = await authenticated(url);
    client.send(startEndless);
    await client.event('Piece');
    tokens.withdraw();
    expect(await client.event('auth_required')).toMatchObject({
      error_type: 'invalid_token',
      runs: [{ run_id: 'endless' }],
    });
    expect(runs.closed).toBe(true);
  });

  test('continues with a new token of the same user, and not with that of another', async () => {
    const { url, runs } = await startSockets();
    const client = await authenticated(url);
    client.send(startEndless);
    await client.event('Piece');
    client.send({ action: 'authenticate', token: 'token of alice' });
    await client.until(() => client.names.filter((name) => name === 'authenticated').length === 4);
    const seen = runs.pieces;
    await client.until(() => runs.pieces > seen + 2);
    client.send({ action: 'authenticate', token: 'token of bob' });
    expect(await client.event('error')).toEqual({
      event: 'error',
      error: 'Run endless not found',
      error_code: 'run_not_found',
      action: 'follow',
      run_id: 'endless',
    });
    expect(runs.closed).toBe(true);
  });
});

describe('a client that does not say who it is', () => {
  test('is disconnected after a while, also when it sends frames', async () => {
    const { url } = await startSockets({ limits: { unprovenMs: 1_000 } });
    const known = await authenticated(url);
    const client = await WsClient.connect(url, '/agents/ws');
    expect(await client.ask({ action: 'ping' })).toEqual({ event: 'pong' });
    expect(await client.closed).toEqual({ code: 1008, reason: 'Authentication required' });
    expect(await known.ask({ action: 'ping' })).toEqual({ event: 'pong' });
  });

  test('is disconnected after its token has ended, too', async () => {
    const { url, tokens } = await startSockets({ limits: { unprovenMs: 1_000 } });
    tokens.expiresAt = Date.now();
    const client = await authenticated(url);
    expect(await client.closed).toEqual({ code: 1008, reason: 'Authentication required' });
    expect(client.names).toContain('auth_required');
  });

  test('may try a few tokens and no more, however quickly they are sent', async () => {
    const { url, tokens } = await startSockets({ limits: { failedAttempts: 3 } });
    const client = await WsClient.connect(url, '/agents/ws');
    for (let at = 0; at < 20; at++) client.send({ action: 'authenticate', token: `guess ${at}` });
    client.send({ action: 'authenticate', token: 'right' });
    expect(await client.closed).toEqual({ code: 1008, reason: 'Too many failed authentication attempts' });
    expect(client.names).toEqual(['connected', 'auth_error', 'auth_error', 'auth_error']);
    expect(tokens.asked).toBe(3);
    tokens.breakDown();
    const patient = await WsClient.connect(url, '/agents/ws');
    for (let at = 0; at < 10; at++) {
      expect(await patient.ask({ action: 'authenticate', token: 'right' })).toMatchObject({
        error: 'Authentication is temporarily unavailable',
        error_type: 'server_error',
      });
    }
  });

  test('may not send much, in one frame that never ends or in many', async () => {
    const { url } = await startSockets({
      settings: { maxBodyBytes: 1_000_000 },
      limits: { unprovenBytes: 100_000 },
    });
    const tooMuch = { code: 1009, reason: 'Too much was sent before authentication' };
    const endless = await WsClient.connect(url, '/agents/ws');
    endless.socket.send('x'.repeat(200_000), { fin: false });
    expect(await endless.closed).toEqual(tooMuch);
    const many = await WsClient.connect(url, '/agents/ws');
    for (let at = 0; at < 5_000; at++) many.send({ action: 'ping', of: at });
    expect(await many.closed).toEqual(tooMuch);
    const known = await authenticated(url);
    expect(await known.ask({ action: 'ping', padding: 'x'.repeat(200_000) })).toEqual({ event: 'pong' });
    const hasty = await WsClient.connect(url, '/agents/ws');
    hasty.send({ action: 'authenticate', token: 'right' });
    hasty.send({ action: 'ping', padding: 'x'.repeat(500_000) });
    await hasty.event('pong');
  });

  test('gives way to others when too many wait', async () => {
    const { url } = await startSockets({ limits: { unprovenConnections: 2 } });
    const known = await authenticated(url);
    const waiting = [];
    for (let at = 0; at < 3; at++) waiting.push(await WsClient.connect(url, '/agents/ws'));
    const [first, ...others] = waiting;
    expect(await first?.closed).toEqual({ code: 1013, reason: 'Too many connections wait for a token' });
    for (const client of [known, ...others])
      expect(await client.ask({ action: 'ping' })).toEqual({ event: 'pong' });
  });
});

describe('a token that comes with the request', () => {
  const greeting = async (url: string, headers: Record<string, string>) =>
    (await WsClient.connect(url, '/agents/ws', { headers })).frames[0]?.payload;
  const open = { event: 'connected', message: 'Connected to Runyard.', requires_auth: false };
  const closed = {
    event: 'connected',
    message: 'Connected to Runyard. Please authenticate to continue.',
    requires_auth: true,
  };

  test('counts in the header when it is valid', async () => {
    const { url, runs } = await startSockets();
    expect(await greeting(url, { authorization: 'Bearer right' })).toEqual(open);
    expect(await greeting(url, { authorization: 'Bearer wrong' })).toEqual(closed);
    expect(await greeting(url, { authorization: 'Basic cmlnaHQ=' })).toEqual(closed);
    const client = await WsClient.connect(url, '/agents/ws', { headers: { authorization: 'Bearer right' } });
    await client.ask(cancel);
    expect(runs.callers.map(({ userId }) => userId)).toEqual(['alice']);
  });

  test('counts as a cookie only of a page that may connect, and only where cookies are read', async () => {
    const { url } = await startSockets({ settings: { tokenSource: 'cookie' } });
    const cookie = 'access_token=right';
    expect(await greeting(url, { cookie, origin: 'https://app.example.com' })).toEqual(open);
    expect(await greeting(url, { cookie })).toEqual(closed);
    const unread = await startSockets();
    expect(await greeting(unread.url, { cookie, origin: 'https://app.example.com' })).toEqual(closed);
  });

  test('does not count in the address', async () => {
    const { url } = await startSockets();
    const client = await WsClient.connect(url, '/agents/ws?token=right&access_token=right');
    expect(client.frames[0]?.payload).toEqual(closed);
  });
});
