import { writeFileSync } from 'node:fs';
import { test } from 'vitest';
import { agent } from '../../src/index.js';
import { TestService } from '../support/service.js';

test('openapi', async () => {
  const service = await TestService.start({ agents: [agent({ id: 'a', model: 'offline' })] });
  writeFileSync('/tmp/h5-openapi.json', (await service.get('/openapi.json')).text);
  await service.stop();
});
