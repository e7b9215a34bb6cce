import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { agent, type Model } from '../../src/index.js';
import type { McpServer } from '../../src/platform/tools/mcp/connection.js';
import { type McpToolsOptions, mcpTools } from '../../src/platform/tools/mcp/mcp-tools.js';
import { scriptedModel } from '../../src/testing.js';
import { pausedOutput } from '../support/outputs.js';
import { serverScript, sharedMcpServer } from './mcp-process.js';

const modern = sharedMcpServer('http');
const sessions = sharedMcpServer('sessions');
const process_: McpServer = { command: process.execPath, args: [serverScript, 'stdio'] };

interface Call {
  readonly name: string;
  readonly arguments: { readonly what?: string };
  readonly id: string;
}

const call = (name: string, what?: string, id = name): Call => ({
  name,
  arguments: what === undefined ? {} : { what },
  id,
});

/** An agent that makes these calls at once, over a source of its own. */
function calling(
  server: McpServer,
  calls: readonly Call[],
  options: McpToolsOptions = {},
  more: Partial<{ model: Model }> = {},
) {
  const source = mcpTools(server, { name: 'test', ...options });
  onTestFinished(() => source.close());
  return agent({
    id: 'a',
    model: scriptedModel([{ toolCalls: [...calls] }, { toolCalls: [call('heard')] }, 'Done.']),
    tools: [source],
    ...more,
  });
}

const resultsOf = (output: { tools: readonly { result: string | null }[] }) =>
  output.tools.map(({ result }) => result);

describe.each<[string, () => Promise<McpServer>]>([
  ['HTTP', async () => ({ url: (await modern()).url })],
  ['HTTP of the older protocol', async () => ({ url: (await sessions()).url })],
  ['a process', async () => process_],
])('what an MCP server asks over %s', (kind, server) => {
  let used: McpServer;
  beforeAll(async () => {
    used = await server();
  });

  it('pauses the run, and the answer reaches the server', async () => {
    const clerk = calling(used, [call('order', `shirt over ${kind}`)]);
    const paused = await clerk.run('Order');
    expect(paused).toMatchObject({
      status: 'paused',
      content: `Which shirt over ${kind}?`,
      requirements: [
        {
          kind: 'user_input',
          inputFields: [
            { name: 'size', type: 'str', description: 'Size' },
            { name: 'count', type: 'int', optional: true },
          ],
        },
      ],
    });
    const answer = (values: object) =>
      clerk.continue(paused.runId, { answers: { order: { values: { ...values } } } });
    await expect(answer({ size: 'XL' })).rejects.toThrow("'size' does not fit");
    await expect(answer({ size: 'S', count: 9 })).rejects.toThrow("'count' does not fit");
    const [ordered, heard] = resultsOf(await answer({ size: 'S' }));
    expect(JSON.parse(ordered!)).toMatchObject({ action: 'accept', content: { size: 'S', count: 2 } });
    // the server that could not wait heard that the question was dismissed
    expect(heard).toContain(`shirt over ${kind}: cancel, shirt over ${kind}: accept`);
  });
});

describe('an MCP server', () => {
  it('may ask in two calls at once, and each gets its own answer', async () => {
    const both = [call('order', 'shirt', 'first'), call('order', 'hat', 'second')];
    const overHttp = calling({ url: (await sessions()).url }, both);
    const paused = await overHttp.run('Order');
    const answers = { first: { values: { size: 'S' } }, second: { values: { size: 'M' } } };
    const [first, second] = resultsOf(await overHttp.continue(paused.runId, { answers }));
    expect([first, second]).toEqual([expect.stringContaining('"S"'), expect.stringContaining('"M"')]);
    // a process does not say which call it asks for: with one left it is clear
    const inProcess = calling(process_, both);
    const again = pausedOutput(await inProcess.run('Order'));
    expect(again.requirements).toHaveLength(1);
    const [asked] = again.requirements;
    const given = { answers: { [asked!.id]: { values: { size: 'S' } } } };
    const results = resultsOf(await inProcess.continue(again.runId, given)).slice(0, 2);
    expect(results.filter((result) => result?.includes('"S"'))).toHaveLength(1);
    expect(results.filter((result) => result?.includes('asks at the same time'))).toHaveLength(1);
  });

  it('does not show a person the follow-up to a dismissal that never happened', async () => {
    const clerk = calling({ url: (await sessions()).url }, [call('order', 'insistent')]);
    const asked = pausedOutput(await clerk.run('Order'));
    expect(asked.requirements).toMatchObject([{ message: 'Which insistent?' }]);
    const [ordered] = resultsOf(
      await clerk.continue(asked.runId, { answers: { order: { values: { size: 'M' } } } }),
    );
    expect(JSON.parse(ordered!)).toMatchObject({ action: 'accept', content: { size: 'M' } });
  });

  it('has a person open an address, over HTTP alone', async () => {
    const clerk = calling({ url: (await modern()).url }, [
      call('visit', 'https://example.com/sign-in', 'good'),
      call('visit', 'file:///etc/passwd', 'bad'),
    ]);
    const paused = pausedOutput(await clerk.run('Sign in'));
    expect(paused.requirements).toMatchObject([{ kind: 'confirmation', callId: 'good' }]);
    expect(paused.content).toContain(
      'Sign in.\nOpen this address, and confirm when you have done so: https://example.com/',
    );
    const [good, bad] = resultsOf(
      await clerk.continue(paused.runId, { answers: { good: { confirmed: false } } }),
    );
    expect(JSON.parse(good!)).toMatchObject({ action: 'decline' });
    expect(bad).toContain('Only addresses that begin with http');
  });

  it('receives its roots', async () => {
    const clerk = calling({ url: (await modern()).url }, [call('look', '')], {
      roots: ['notes', 'file:///srv/files'],
    });
    const [looked] = resultsOf(await clerk.run('Look'));
    const uris = [pathToFileURL('notes').href, 'file:///srv/files'];
    expect(JSON.parse(looked!)).toMatchObject({ roots: uris.map((uri) => ({ uri })) });
    expect(() => mcpTools(process_, { roots: ['https://example.com'] })).toThrow('begins with file:');
  });

  it.each<[McpToolsOptions, string, string]>([
    [{ sampling: true }, 'once', '"text":"A thought."'],
    [{ sampling: { maxCalls: 1 } }, 'twice', 'A call of a tool may ask for 1 model calls'],
    [{}, 'once', "The option 'sampling' of mcpTools() turns it on"],
  ])('may have the model think: %j, %s', async (options, what, result) => {
    const model = scriptedModel(({ tools, messages }) => {
      if (tools.length === 0) return 'A thought.';
      return messages.at(-1)!.role === 'tool' ? 'Done.' : { toolCalls: [call('think', what)] };
    });
    const output = await calling({ url: (await modern()).url }, [], options, { model }).run('Think');
    expect(output.status).toBe('completed');
    expect(resultsOf(output)[0]).toContain(result);
    const sampled = model.requests.filter(({ tools }) => tools.length === 0);
    expect(sampled).toHaveLength(options.sampling ? 1 : 0);
    for (const { messages } of sampled)
      expect(messages).toMatchObject([{ content: what }, { media: [{ kind: 'image', size: 4 }] }]);
    const { details } = output.metrics as { details: Record<string, unknown> };
    expect('sampling_model' in details).toBe(options.sampling !== undefined);
  });

  it('may not have it think beyond the limits of the run', async () => {
    const model = scriptedModel([{ toolCalls: [call('think', 'once')] }, 'A thought.', 'Done.']);
    const source = mcpTools({ url: (await modern()).url }, { name: 'test', sampling: true });
    onTestFinished(() => source.close());
    const limited = agent({ id: 'b', model, limits: { tokens: 20 }, tools: [source] });
    expect(await limited.run('Think')).toMatchObject({ status: 'error', metrics: { total_tokens: 30 } });
    expect(model.requests).toHaveLength(2);
  });
});
