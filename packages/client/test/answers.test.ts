import { expect, test } from 'vitest';
import { ConflictError, createClient, UnavailableError } from '../src/index.js';
import { ScriptedService, sendJson } from './support/scripted-service.js';

const tools = [{ tool_call_id: 'c', confirmed: true }];
const paused = { run_id: 'r', status: 'paused', events: [{ event: 'RunPaused', event_index: 4 }] };
const isContinue = (line: string) => line === 'POST /agents/a/runs/r/continue';

test('an answer that the service refuses at once is an error', async () => {
  for (const code of ['cannot_continue', 'unresolved_requirements']) {
    const service = await ScriptedService.start(({ method }, response) =>
      method === 'GET'
        ? sendJson(response, paused)
        : sendJson(response, { detail: 'No', error_code: code }, 409),
    );
    const answered = createClient({ baseUrl: service.url }).agents.continue('a', 'r', { tools });
    await expect(answered).rejects.toThrow(ConflictError);
    await expect(answered).rejects.toMatchObject({ errorCode: code });
    expect(service.lines.filter(isContinue)).toHaveLength(1);
  }
});

test('an answer is given again as often as other requests, and not without an answer in it', async () => {
  const service = await ScriptedService.start(({ method }, response) =>
    method === 'GET' ? sendJson(response, paused) : sendJson(response, { detail: 'Later' }, 503),
  );
  const client = createClient({ baseUrl: service.url, retries: 2 });
  await expect(client.agents.continue('a', 'r', { tools })).rejects.toThrow(UnavailableError);
  expect(service.lines.filter(isContinue)).toHaveLength(3);
  for (const answers of [{}, { tools: [] }, { input: 'And again' }])
    await expect(client.agents.continue('a', 'r', answers)).rejects.toThrow(UnavailableError);
  expect(service.lines.filter(isContinue)).toHaveLength(6);
});
