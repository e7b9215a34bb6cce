import { describe, expect, it } from 'vitest';
import { callTool } from '../../../test/tools/tool-call.js';
import { collectFixedTools, collectTools, toolSourcesOf } from './collect-tools.js';
import { tool } from './tool.js';
import type { ToolSource } from './tool-source.js';
import { toolkit } from './toolkit.js';

const named = (name: string, rest = {}) =>
  tool({ name, description: name, execute: () => `I am ${name}`, ...rest });
const source = (name: string, ...names: string[]): ToolSource => ({
  name,
  instructions: `How to use ${name}`,
  tools: async () => names.map((one) => named(one)),
  close: async () => {},
});
const { signal } = new AbortController();
const ask = (asked: ToolSource) => asked.tools(signal);
const owner = "Agent 'a'";

describe('toolkits', () => {
  it('select, prefix and nest', async () => {
    const files = toolkit({
      name: 'files',
      tools: [named('read'), named('write'), named('remove')],
      exclude: ['remove'],
      prefix: 'file_',
    });
    const office = toolkit({
      name: 'office',
      tools: [files, named('print')],
      include: ['file_read', 'print'],
      prefix: 'office_',
    });
    const { tools } = collectFixedTools(owner, [office, named('read')]);
    expect([...tools.keys()]).toEqual(['office_file_read', 'office_print', 'read']);
    const renamed = tools.get('office_file_read')!;
    expect(renamed.definition.name).toBe('office_file_read');
    expect(await callTool(renamed)).toMatchObject({ content: 'I am read' });
    expect(collectFixedTools(owner, [office]).tools.get('office_file_read')).toBe(renamed);
  });

  it('refuse a clash of names and say where both come from', () => {
    const kit = (name: string) => toolkit({ name, tools: [named('search')] });
    expect(() => collectFixedTools(owner, [kit('web'), kit('mail')])).toThrow(
      "Agent 'a' has two tools named 'search': one from toolkit 'web', one from toolkit 'mail'. Rename one",
    );
    expect(() => collectFixedTools(owner, [named('search'), kit('mail')])).toThrow(
      "one from its own tools, one from toolkit 'mail'",
    );
  });

  it('refuse names that they do not have', () => {
    expect(() => toolkit({ name: 'files', tools: [named('read')], exclude: ['delete'] })).toThrow(
      "Toolkit 'files' has no tool 'delete'. It has: read.",
    );
  });

  it('gate tools by name, and take no gate away', async () => {
    const kit = toolkit({
      name: 'files',
      tools: [named('read'), named('write'), named('send'), named('drop', { requiresConfirmation: true })],
      requiresConfirmation: ['write'],
      externalExecution: ['send'],
      showResult: ['read'],
      stopAfterCall: true,
      prefix: 'file_',
    });
    const { tools } = collectFixedTools(owner, [kit]);
    const gates = Array.from(tools.values(), ({ name, gate, showResult, stopAfterCall }) => [
      name,
      gate.requiresConfirmation,
      gate.externalExecution,
      showResult,
      stopAfterCall,
    ]);
    expect(gates).toEqual([
      ['file_read', false, false, true, true],
      ['file_write', true, false, false, true],
      ['file_send', false, true, false, true],
      ['file_drop', true, false, false, true],
    ]);
    expect(await callTool(tools.get('file_write')!)).toMatchObject({ error: true });
    expect(collectFixedTools(owner, [kit]).tools.get('file_write')).toBe(tools.get('file_write'));
    const open = toolkit({ name: 'open', tools: [kit], requiresConfirmation: false });
    expect(collectFixedTools(owner, [open]).tools.get('file_drop')!.gate.requiresConfirmation).toBe(true);
  });

  it('refuse to gate a tool that they do not have, or that waits for something else', () => {
    const tools = [named('read'), named('send', { requiresUserInput: true })];
    expect(() => toolkit({ name: 'files', tools, requiresConfirmation: ['raed'] })).toThrow(
      "Toolkit 'files' has no tool 'raed'. It has: read, send.",
    );
    expect(() => toolkit({ name: 'files', tools, requiresConfirmation: true })).toThrow(
      "Tool 'send' waits for more than one thing.",
    );
    const name = 'read' as never;
    expect(() => toolkit({ name: 'files', tools, externalExecution: name })).toThrow(
      'Give true or a list of names',
    );
  });

  it('gather instructions, each once, of what is really there', () => {
    const inner = toolkit({
      name: 'inner',
      tools: [named('a', { instructions: 'Use a.' }), named('b', { instructions: 'Use b.' })],
      exclude: ['b'],
      instructions: 'About inner.',
    });
    const { instructions } = collectFixedTools(owner, [inner, named('c', { instructions: 'Use a.' })]);
    expect(instructions).toEqual(['About inner.', 'Use a.']);
  });
});

describe('tool sources', () => {
  it('are asked for each run, also inside toolkits, and each is closed once', async () => {
    const web = source('web', 'search', 'fetch');
    const entries = [named('own'), toolkit({ name: 'kit', tools: [web], include: ['fetch'] }), web];
    expect(toolSourcesOf(entries)).toEqual([web]);
    expect([...collectFixedTools(owner, entries).tools.keys()]).toEqual(['own']);
    const { tools, instructions } = await collectTools(owner, entries, ask);
    expect([...tools.keys()]).toEqual(['own', 'fetch', 'search', 'web_fetch']);
    expect(instructions).toEqual(['How to use web']);
  });

  it('are gated by name, and a name that none of them has is refused once they are known', async () => {
    const web = source('web', 'search', 'fetch');
    const kit = (...names: string[]) => toolkit({ name: 'kit', tools: [web], requiresConfirmation: names });
    const { tools } = await collectTools(owner, [kit('fetch')], ask);
    const gated = Array.from(tools.values(), ({ gate }) => gate.requiresConfirmation);
    expect(gated).toEqual([false, true]);
    expect(collectFixedTools(owner, [kit('fecth')]).tools.size).toBe(0);
    await expect(collectTools(owner, [kit('fecth')], ask)).rejects.toThrow(
      "Toolkit 'kit' has no tool 'fecth'. It has: search, fetch.",
    );
    await expect(collectTools(owner, [kit('fecth')], async () => [])).resolves.toBeDefined();
  });

  it('get a prefix where a name is taken, and never take one that the application chose', async () => {
    const { tools } = await collectTools(
      owner,
      [source('first one', 'search', 'own'), source('second', 'search'), named('own')],
      ask,
    );
    expect([...tools.keys()]).toEqual(['own', 'search', 'first_one_own', 'second_search']);
    expect(await callTool(tools.get('second_search')!)).toMatchObject({ content: 'I am search' });
  });
});
