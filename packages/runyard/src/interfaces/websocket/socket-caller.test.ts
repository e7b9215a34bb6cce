import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Gate, gate } from '../../../test/support/until.js';
import { errors } from '../../core/errors/errors.js';
import { anonymousCaller } from '../../platform/auth/caller.js';
import type { Identity } from '../../platform/auth/identity.js';
import { SocketCaller, type SocketIdentities } from './socket-caller.js';

const identity = (userId: string, expiresAt: number | null = null): Identity => ({
  caller: { ...anonymousCaller, userId, proven: true },
  by: 'jwt',
  expiresAt,
});

/** Takes any token for the name of a user, and answers when the test says so. */
class SlowIdentities implements SocketIdentities {
  readonly mode = 'jwt';
  readonly asked: Gate<Identity | Error>[] = [];

  async of(): Promise<Identity> {
    const answer = gate<Identity | Error>();
    this.asked.push(answer);
    const given = await answer.opened;
    if (given instanceof Error) throw given;
    return given;
  }
}

async function socketCallerWith(first: Identity) {
  const identities = new SlowIdentities();
  const onExpiry = vi.fn();
  const socketCaller = new SocketCaller(identities, '127.0.0.1', onExpiry);
  const presented = socketCaller.present('first');
  identities.asked[0]?.open(first);
  await presented;
  return { socketCaller, identities, onExpiry };
}

describe('a token that is being checked while another one is sent', () => {
  test.each([
    ['good', identity('alice')],
    ['withdrawn', errors.invalidToken('Signature verification failed')],
  ])('no longer changes anything when it is found %s', async (_name, late) => {
    const { socketCaller, identities } = await socketCallerWith(identity('alice'));
    const looked = socketCaller.caller();
    const presented = socketCaller.present('second');
    identities.asked[2]?.open(identity('bob'));
    await presented;
    identities.asked[1]?.open(late);
    expect((await looked)?.userId).toBe('bob');
    expect(socketCaller.current?.userId).toBe('bob');
    expect(socketCaller.fault).toBeNull();
  });
});

describe('the end of a token', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const days = (count: number) => count * 86_400_000;

  test('comes when it is due, also beyond the range of a timer', async () => {
    const { socketCaller, onExpiry } = await socketCallerWith(identity('alice', Date.now() + days(60)));
    vi.advanceTimersByTime(days(60) - 1);
    expect(socketCaller.current?.userId).toBe('alice');
    expect(onExpiry).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(socketCaller.current).toBeNull();
    expect(socketCaller.fault?.code).toBe('token_expired');
    expect(onExpiry).toHaveBeenCalledOnce();
  });

  test('is that of the token which counts', async () => {
    const { socketCaller, identities, onExpiry } = await socketCallerWith(
      identity('alice', Date.now() + 1_000),
    );
    const presented = socketCaller.present('longer');
    identities.asked[1]?.open(identity('alice', Date.now() + 5_000));
    await presented;
    vi.advanceTimersByTime(4_000);
    expect(onExpiry).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1_000);
    expect(onExpiry).toHaveBeenCalledOnce();
  });

  test('does not matter for a client that has left', async () => {
    const { socketCaller, identities, onExpiry } = await socketCallerWith(
      identity('alice', Date.now() + 1_000),
    );
    const looked = socketCaller.caller();
    socketCaller.leave();
    identities.asked[1]?.open(identity('alice', Date.now() + 1_000));
    await looked;
    vi.advanceTimersByTime(2_000);
    expect(onExpiry).not.toHaveBeenCalled();
  });
});
