import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { agent, Runyard } from '../../../src/index.js';
import { preparedSqlite } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';

test('the results of tool calls continue the run after a restart', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'runyard-openai-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  writeFileSync(join(dataDir, 'runyard.db'), await preparedSqlite());
  const book = new ScriptBook();
  const served = async <T>(work: (client: OpenAI) => Promise<T>): Promise<T> => {
    const agents = [agent({ id: 'clerk', model: book.model })];
    const app = new Runyard({ port: 0, dataDir, log: silentLog, agents, openai: true });
    const { url } = await app.listen();
    try {
      return await work(new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none' }));
    } finally {
      await app.close({ graceMs: 0 });
    }
  };
  const content = book.write('Rome?', { toolCalls: [{ name: 'weather', id: 'w', arguments: {} }] }, 'Hot.');
  const model = 'clerk';
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content }];
  const tools = [{ type: 'function' as const, function: { name: 'weather' } }];
  const { choices } = await served((client) => client.chat.completions.create({ model, messages, tools }));
  const [asked] = choices;
  const [call] = asked!.message.tool_calls!;
  messages.push(asked!.message, { role: 'tool', tool_call_id: call!.id, content: '30' });
  await served(async (client) => {
    const answer = await client.chat.completions.create({ model, messages, tools });
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Hot.' } });
    const again = await client.chat.completions.retrieve(answer.id);
    expect(again.choices[0]!.message.content).toBe('Hot.');
  });
  expect(book.requests(content)).toHaveLength(2);
});
