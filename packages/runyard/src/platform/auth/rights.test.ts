import { describe, expect, test } from 'vitest';
import { parseScope, Rights } from './rights.js';

const admin = 'agent_os:admin';
const rights = (...held: string[]) => new Rights(held, { adminScope: admin, enforced: true });

describe('a scope', () => {
  test.each(['', 'agents', 'agents:', ':read', 'a:b:c:d', 'agents::read', '*'])(
    '%j is not a scope',
    (text) => {
      expect(parseScope(text)).toBeUndefined();
    },
  );

  test('names a resource or one instance of it', () => {
    expect(parseScope('agents:run')).toEqual({ resource: 'agents', instance: null, action: 'run' });
    expect(parseScope('agents:a:run')).toEqual({ resource: 'agents', instance: 'a', action: 'run' });
    expect(parseScope('system:read')).toEqual({ resource: 'config', instance: null, action: 'read' });
  });
});

describe('rights', () => {
  test('for the whole resource, for any instance and for one', () => {
    for (const held of ['agents:run', 'agents:*:run']) {
      expect(rights(held).may('agents:run', 'a')).toBe(true);
      expect(rights(held).may('agents:run')).toBe(true);
    }
    expect(rights('agents:a:run').may('agents:run', 'a')).toBe(true);
    expect(rights('agents:a:run').may('agents:run', 'b')).toBe(false);
    expect(rights('sessions:abc:read').may('sessions:read')).toBe(false);
  });

  test.each(['*', 'agents:*', '*:run', 'admin', 'Agents:run', 'agents:read', 'teams:run', 'agents:RUN'])(
    '%j does not let run agents',
    (held) => expect(rights(held).may('agents:run', 'a')).toBe(false),
  );

  test('of an admin, who holds exactly the scope that is configured', () => {
    expect(rights(admin).may('anything:at_all')).toBe(true);
    expect(new Rights([admin], { adminScope: 'my:admin', enforced: true }).may('agents:run')).toBe(false);
    expect(new Rights(['my:admin'], { adminScope: 'my:admin', enforced: true }).isAdmin).toBe(true);
  });

  test('without enforcement', () => {
    expect(Rights.unlimited.may('agents:run', 'a')).toBe(true);
    expect(Rights.unlimited.isAdmin).toBe(false);
  });

  test('say which instances a list may show', () => {
    expect(rights('agents:read').instances('agents', 'read')).toBe('all');
    expect(rights('agents:a:read', 'agents:b:read').instances('agents', 'read')).toEqual(new Set(['a', 'b']));
    expect(rights('agents:run').instances('agents', 'read')).toEqual(new Set());
  });

  test('a scope named like a part of every object opens nothing', () => {
    expect(rights('constructor:read').may('config:read')).toBe(false);
    expect(rights('__proto__:read').may('config:read')).toBe(false);
  });
});
