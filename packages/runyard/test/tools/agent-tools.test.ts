import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { calculator } from '../../src/core/tools/ready/calculator.js';
import { tool } from '../../src/core/tools/tool.js';
import { toolkit } from '../../src/core/tools/toolkit.js';
import { agent } from '../../src/library.js';
import { mcpTools } from '../../src/platform/tools/mcp/mcp-tools.js';
import { scriptedModel } from '../../src/testing.js';
import { serverScript } from './mcp-process.js';

it('an agent uses tools, toolkits and MCP servers alike', async () => {
  const server = mcpTools(
    { command: process.execPath, args: [serverScript, 'stdio'] },
    { name: 'far', include: ['echo'] },
  );
  onTestFinished(() => server.close());
  const mathematics = toolkit({
    name: 'mathematics',
    tools: [calculator()],
    instructions: 'Never compute in your head.',
  });
  const model = scriptedModel([
    {
      toolCalls: [
        { name: 'calculate', arguments: { expression: '6 * 7' } },
        { name: 'echo', arguments: { text: 'hello' } },
      ],
    },
    'Done.',
  ]);
  const output = await agent({ name: 'Both', model, tools: [server, mathematics] }).run('Go');
  expect(output.tools.map(({ name, result, error }) => [name, result, error])).toEqual([
    ['calculate', '42', false],
    ['echo', 'hello', false],
  ]);
  expect(output.messages[0]).toMatchObject({
    role: 'system',
    content: expect.stringContaining('Never compute in your head.'),
  });
});

it('an agent does not execute a call that needs a person', async () => {
  const paid: number[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    inputSchema: z.object({ cents: z.number() }),
    requiresConfirmation: ({ cents }) => cents > 100,
    sideEffects: true,
    execute: ({ cents }) => {
      paid.push(cents);
      return 'paid';
    },
  });
  const model = scriptedModel([
    {
      toolCalls: [
        { name: 'pay', arguments: { cents: 99 } },
        { name: 'pay', arguments: { cents: 101 } },
      ],
    },
    'I paid one of them.',
  ]);
  const output = await agent({ name: 'Cashier', model, tools: [pay] }).run('Pay both');
  expect(paid).toEqual([99]);
  expect(output).toMatchObject({ status: 'paused', content: expect.stringContaining("'pay'") });
  expect(output.tools.map(({ args, result }) => [args, result])).toEqual([
    [{ cents: 99 }, 'paid'],
    [{ cents: 101 }, null],
  ]);
});
