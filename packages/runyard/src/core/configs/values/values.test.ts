import { describe, expect, test } from 'vitest';
import {
  type bank,
  faultsOf,
  guarded,
  offered,
  pay,
  site,
} from '../../../../test/support/components/whole-components.js';
import { agent, tool } from '../../../index.js';
import { scriptedModel } from '../../../testing.js';
import { outputShapeOf } from '../../agents/answer/output-format.js';
import type { Json, JsonObject } from '../../json.js';
import { Registry } from '../../registry/registry.js';
import type { Tool } from '../../tools/tool.js';
import { buildComponent } from '../build-component.js';
import { configOf } from '../config-of.js';

describe('models', () => {
  const other = scriptedModel([]);

  test.each<[Json, unknown]>([
    ['openai:gpt-5-mini', 'openai:gpt-5-mini'],
    [{ id: 'gpt-5-mini', provider: 'OpenAI', name: 'OpenAIChat' }, 'openai:gpt-5-mini'],
    [{ id: 'llama3', provider: 'ollama' }, 'ollama:llama3'],
    [{ id: 'offline', provider: 'Runyard' }, 'offline'],
    [{ id: offered.id }, offered],
    [`${offered.provider}:${offered.id}`, offered],
  ])('%j', (model, expected) => {
    expect(buildComponent('agent', 'x', { model }, site()).settings).toMatchObject({ model: expected });
  });

  test('a package is loaded only if the code names it', () => {
    const model = 'ai-sdk:mistral:large';
    const at = site({ settings: { models: [model] } });
    expect(buildComponent('agent', 'x', { model }, at).settings).toMatchObject({ model });
  });

  test('two of one name are ambiguous until one is registered', () => {
    const reference = { model: { id: offered.id, provider: offered.provider } };
    const used = [agent({ id: 'a', model: offered }), agent({ id: 'b', model: other })];
    expect(faultsOf(reference, 'agent', site({ components: used }))).toContain(
      "is ambiguous: agent 'a' and agent 'b' have different ones of this name",
    );
    const chosen = site({ components: used, settings: { models: [other] } });
    expect(buildComponent('agent', 'x', reference, chosen).settings).toMatchObject({ model: other });
  });
});

describe('tools', () => {
  const toolsOf = (entry: JsonObject) => {
    const built = buildComponent('agent', 'x', { model: 'offline', tools: [entry] }, site());
    return (built as typeof bank).tools.get(String(entry.name)) as Tool;
  };

  test('are those of the code', () => {
    expect(toolsOf({ name: 'pay', parameters: {} })).toBe(pay);
    expect(toolsOf({ name: 'm_pay', toolkit: 'maths' })).toBe(pay.named('m_pay'));
    expect(toolsOf({ name: 'm_pay', parameters: {} })).toBe(pay.named('m_pay'));
  });

  test('a stricter gate and another description are applied', () => {
    const stricter = toolsOf({
      name: 'pay',
      parameters: {},
      requires_confirmation: true,
      description: 'Pays a bill',
    });
    expect(stricter.gate.requiresConfirmation).toBe(true);
    expect(stricter.description).toBe('Pays a bill');
    expect(pay.gate.requiresConfirmation).toBe(false);
    expect(toolsOf({ name: 'pay', parameters: {}, approval_type: 'required' }).gate.approval).toBe(
      'required',
    );
    expect(toolsOf({ name: 'pay', parameters: {}, external_execution: true }).gate.externalExecution).toBe(
      true,
    );
    // what the code has needs no repetition
    expect(toolsOf({ name: 'wire', parameters: {}, requires_confirmation: null }).gate).toBe(guarded.gate);
  });

  test.each<[JsonObject, string]>([
    [
      { requires_confirmation: false },
      "tools[0].requires_confirmation is false, which is weaker than the tool 'wire'",
    ],
    [{ approval_type: 'audit' }, "tools[0].approval_type is 'audit', which is weaker than the tool 'wire'"],
    [{ external_execution: true }, 'tools[0].external_execution is true, which would replace what calls'],
    [{ approval: 'none' }, 'tools[0].approval is not a key of a tool.'],
  ])('%j never opens a gate', (flags, fault) => {
    expect(faultsOf({ model: 'offline', tools: [{ name: 'wire', parameters: {}, ...flags }] })).toContain(
      fault,
    );
  });

  test('what only some calls wait for, or others execute, is not taken back', () => {
    const some = tool({
      ...{ name: 'some', description: '', inputSchema: { type: 'object', properties: {} } },
      requiresConfirmation: () => true,
      execute: () => '',
    });
    const outside = tool({ name: 'outside', description: '', externalExecution: true });
    const at = site({ settings: { tools: [some, outside] } });
    const entries: JsonObject[] = [
      { name: 'some', parameters: {}, requires_confirmation: false },
      { name: 'outside', parameters: {}, external_execution: false },
    ];
    const faults = faultsOf({ model: 'offline', tools: entries }, 'agent', at);
    expect(faults).toContain("requires_confirmation is false, which is weaker than the tool 'some'");
    expect(faults).toContain("external_execution is false, which is weaker than the tool 'outside'");
  });

  test('one tool of a source is taken as it is', () => {
    const server = { name: 'server', tools: async () => [], close: async () => {} };
    const at = site({ settings: { tools: [server] } });
    const entry = { name: 'search', toolkit: 'server' };
    const built = buildComponent('agent', 'x', { model: 'offline', tools: [entry] }, at);
    expect(built.settings).toMatchObject({ tools: [{ options: { tools: [server], include: ['search'] } }] });
    const gated = { model: 'offline', tools: [{ ...entry, requires_confirmation: true }] };
    expect(faultsOf(gated, 'agent', at)).toContain('tools[0].requires_confirmation cannot be given');
  });

  test('a name that two tools have is ambiguous', () => {
    const twin = tool({ name: 'pay', description: 'Another', execute: () => '' });
    const used = [
      agent({ id: 'a', model: 'offline', tools: [pay] }),
      agent({ id: 'b', model: 'offline', tools: [twin] }),
    ];
    const fault = faultsOf(
      { model: 'offline', tools: [{ name: 'pay', parameters: {} }] },
      'agent',
      site({ components: used }),
    );
    expect(fault).toContain("tools[0] names the tool 'pay', which is ambiguous: agent 'a' and agent 'b'");
    expect(() => configOf(used[0]!, new Registry({ components: used }))).toThrow('tools[0] is the tool');
  });
});

test('an inline schema of a configuration is never compiled: an endless pattern costs nothing', async () => {
  const endless = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
  const schemas = { input_schema: endless, output_schema: structuredClone(endless) };
  const built = buildComponent('agent', 'x', { model: 'offline', ...schemas }, site());
  const value = { a: `${'a'.repeat(40)}!` };
  await expect(built.acceptInput(JSON.stringify(value))).resolves.toContain('aaa');
  const output = outputShapeOf({ stream: false }, (built as typeof bank).settings.outputSchema);
  await expect(output?.read(JSON.stringify(value))).resolves.toMatchObject({ content: value });
});
