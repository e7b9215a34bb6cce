import { expect, test } from 'vitest';
import { agent, Runyard, type RunyardOptions } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { startService } from '../../support/service.js';

const throwing = () => {
  throw new Error('the disk of the log is full');
};
const rejecting = async () => throwing();

test.each<[string, unknown]>([
  ['throws', { debug: throwing, info: throwing, warn: throwing, error: throwing }],
  ['rejects', { debug: rejecting, info: rejecting, warn: rejecting, error: rejecting }],
])('a service whose log %s serves runs, failures included', async (_how, log) => {
  const broken = () => {
    throw new Error('broken');
  };
  const service = await startService({
    log: log as RunyardOptions['log'],
    agents: [
      agent({ id: 'a', model: scriptedModel(() => 'hi'), preHooks: [broken] }),
      agent({ id: 'b', model: scriptedModel(broken) }),
    ],
  } as RunyardOptions);
  const { status, body } = await service.run('a', { message: 'hello' });
  expect([status, body.status, body.content]).toEqual([200, 'completed', 'hi']);
  expect((await service.run('b', { message: 'hello' })).body).toMatchObject({ status: 'error' });
  expect((await service.get('/nowhere')).status).toBe(404);
});

test.each([{}, null, { debug: rejecting }])('%j is not taken for a log', (log) => {
  expect(() => new Runyard({ log: log as never })).toThrow('Give a log with debug, info, warn and error');
});

test('a log with methods of a class is called as its object', async () => {
  class Lines {
    readonly lines: string[] = [];
    debug(_fields: object, message: string) {
      this.lines.push(message);
    }
    info = this.debug;
    warn = this.debug;
    error = this.debug;
  }
  const log = new Lines();
  const service = await startService({ log, agents: [] });
  await service.get('/health');
  expect(log.lines).toContain('request');
});
