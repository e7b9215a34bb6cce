import { expect, it } from 'vitest';
import { agent, tool } from '../../../src/index.js';
import { RunLife } from '../../support/components/run-life.js';
import { forEachDatabase } from '../../support/databases.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, startService } from '../../support/service.js';

forEachDatabase((_dialect, freshPlace) => {
  it('the questions of a tool are answered over HTTP, one by one', async () => {
    const place = await freshPlace();
    await place.open();
    const book = new ScriptBook();
    book.write('Order', { toolCalls: [{ id: 'c', name: 'order', arguments: {} }] }, 'Ordered.');
    const order = tool({
      name: 'order',
      description: 'Orders',
      sideEffects: true,
      execute: async (_args, { ask }) => {
        const fields = [{ name: '__proto__', type: 'str', schema: { enum: ['S', 'M'] } }] as const;
        const first = await ask({ message: 'Which size?', fields });
        const second = await ask({ message: 'Sure?' });
        return [first, second.action];
      },
    });
    const clerk = agent({ id: 'clerk', model: book.model, tools: [order] });
    const life = new RunLife(await startService({ agents: [clerk], database: place.url }), 'clerk');
    const paused = await life.start({ message: 'Order' });
    expect(paused).toMatchObject({ status: 'paused', content: 'Which size?' });
    const [asked] = paused.requirements;
    expect(asked).toMatchObject({
      message: 'Which size?',
      user_input_schema: [
        { name: '__proto__', field_type: 'str', schema: { enum: ['S', 'M'] }, value: null },
      ],
    });
    const filled = (value: string) => [
      { ...asked, user_input_schema: asked.user_input_schema.map((field: Body) => ({ ...field, value })) },
    ];
    const wrong = await life.continue(paused.run_id, { requirements: filled('XL') });
    expect(wrong).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining("'__proto__' does not fit") },
    });
    const { body: again } = await life.continue(paused.run_id, { requirements: filled('M') });
    const open = again.requirements.find((one: Body) => one.message === 'Sure?');
    expect(again).toMatchObject({ status: 'paused', content: 'Sure?' });
    expect(open).toMatchObject({ tool_execution: { requires_confirmation: true, confirmed: null } });
    // sent again, the first answer does not answer the second question
    const same = await life.continue(paused.run_id, { requirements: filled('M') });
    expect(same.body).toMatchObject({ error_code: 'unresolved_requirements' });
    const byCall = await life.continue(paused.run_id, { tools: [{ tool_call_id: 'c', confirmed: true }] });
    expect(byCall.body).toMatchObject({ error_code: 'unresolved_requirements' });
    const { body } = await life.continue(paused.run_id, { requirements: [{ ...open, cancelled: true }] });
    expect(body).toMatchObject({ status: 'completed', content: 'Ordered.' });
    expect(body.tools[0].result).toBe('[{"action":"accept","values":{"__proto__":"M"}},"cancel"]');
  });
});
