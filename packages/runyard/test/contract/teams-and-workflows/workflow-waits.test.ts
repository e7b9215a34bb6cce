import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, step, workflow } from '../../../src/index.js';
import { openaiApi } from '../../../src/interfaces.js';
import { scriptedModel } from '../../../src/testing.js';
import { Gatehouse } from '../../support/clients/tokens.js';
import { RunLife } from '../../support/components/run-life.js';
import { type Body, TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

/** Asks in the middle of its work, twice. */
const refund = workflow({
  id: 'refund',
  steps: [
    step({
      name: 'decide',
      run: async ({ suspend }) => {
        const { confirmed } = await suspend('Give the money back?');
        if (!confirmed) return 'nothing';
        const { euros } = await suspend('How much?', z.object({ euros: z.int().max(100) }));
        return `${euros} euros`;
      },
    }),
  ],
});

/** Waits for a payment. */
const order = workflow({
  id: 'order',
  steps: [
    step({
      name: 'pay',
      run: async ({ waitForEvent }) => (await waitForEvent('paid', z.object({ euros: z.number() }))).euros,
    }),
  ],
});

/** Calls the workflow, and says what it made. */
const host = agent({
  id: 'host',
  tools: [refund],
  model: scriptedModel(({ messages }) => {
    const { role, content } = messages.at(-1)!;
    return role === 'tool' ? content : { toolCalls: [{ name: 'refund', arguments: { input: content } }] };
  }),
});

let service: TestService;

beforeAll(async () => {
  service = await TestService.start({
    agents: [host],
    workflows: [refund, order],
    interfaces: [openaiApi()],
  });
});
afterAll(() => service.stop());

describe('a question of a function', () => {
  test('is answered with step_requirements; a wrong answer leaves it open', async () => {
    const life = new RunLife(service, 'refund', 'workflows');
    const asked = await life.start({ message: 'Broken' });
    expect(asked).toMatchObject({
      status: 'paused',
      pause_kind: 'step',
      paused_step_name: 'decide',
      step_requirements: [{ requires_confirmation: true, confirmation_message: 'Give the money back?' }],
    });
    const [{ step_id }] = asked.step_requirements as [{ step_id: string }];
    const send = (answer: object) =>
      service.submit(`/workflows/refund/runs/${String(asked.run_id)}/continue`, {
        stream: false,
        step_requirements: JSON.stringify([{ step_id, ...answer }]),
      });
    const form = (await send({ confirmed: true })).body as Body;
    expect(form.step_requirements).toMatchObject([
      { confirmed: true },
      { requires_user_input: true, user_input_schema: [{ name: 'euros', field_type: 'int' }] },
    ]);
    expect((await send({ user_input: { euros: 'many' } })).status).toBe(400);
    expect((await send({ user_input: { euros: 20 } })).body).toMatchObject({
      status: 'completed',
      content: '20 euros',
    });
  });

  test('is answered by a client of the OpenAI API', async () => {
    const chat = async (more: object) => {
      const body = { model: 'refund', messages: [{ role: 'user', content: 'Broken' }], ...more };
      const response = await fetch(`${service.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return (await response.json()) as {
        choices: [{ message: { content: string } }];
        runyard: { run_id: string };
      };
    };
    const asked = await chat({});
    expect(asked.choices[0].message.content).toContain('Give the money back?');
    const answer = (one: object) => chat({ runyard: { run_id: asked.runyard.run_id, answers: [one] } });
    expect((await answer({ confirmed: true })).choices[0].message.content).toContain('How much?');
    expect((await answer({ values: { euros: 7 } })).choices[0].message.content).toBe('7 euros');
  });
});

test('an event of another user is not for the run, and one of an agent is for none', async () => {
  const house = await Gatehouse.open({ workflows: [order], agents: [host] });
  const [ada, eve] = [await house.person('ada'), await house.person('eve')];
  const { body } = await ada.submit('/workflows/order/runs', { message: 'Chair' });
  const path = `/workflows/order/runs/${body.run_id}/events`;
  const paid = { name: 'paid', data: { euros: 3 } };
  expect((await eve.send('POST', path, paid)).status).toBe(404);
  expect((await eve.get(`/workflows/order/runs/${body.run_id}`)).status).toBe(404);
  expect((await ada.send('POST', path, paid)).body).toMatchObject({ status: 'delivered' });
});

test('a workflow that an agent calls as a tool asks over REST, and the answer reaches it', async () => {
  const life = new RunLife(service, 'host', 'agents');
  const asked = await life.start({ message: 'Broken' });
  expect(asked).toMatchObject({ status: 'paused' });
  const answer = async (given: object) => {
    const stored = await life.stored(String(asked.run_id));
    const requirements = stored.requirements.map((one: Body) => ({ ...one, ...given }));
    const { body } = await service.submit(`/agents/host/runs/${String(asked.run_id)}/continue`, {
      stream: false,
      requirements: JSON.stringify(requirements),
    });
    return body as Body;
  };
  const [question] = asked.requirements as Body[];
  expect(question).toMatchObject({ message: 'Give the money back?', member_agent_id: 'refund' });
  const done = await answer({ confirmation: false });
  expect(done).toMatchObject({ status: 'completed', content: 'nothing' });
  expect(done.tools).toMatchObject([{ tool_name: 'refund', result: 'nothing' }]);
});

test('an event is sent to a run that waits for it', async () => {
  const life = new RunLife(service, 'order', 'workflows');
  const waiting = await life.start({ message: 'Chair' });
  expect(waiting).toMatchObject({
    status: 'paused',
    waiting_for: [{ kind: 'event', event_name: 'paid', step_name: 'pay' }],
  });
  const send = (body: object, runId = String(waiting.run_id)) =>
    service.call('POST', `/workflows/order/runs/${runId}/events`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  expect((await send({ name: 'paid', data: {} })).status).toBe(422);
  expect((await send({ name: '' })).status).toBe(422);
  expect((await send({ name: 'paid' }, 'unknown')).status).toBe(404);
  expect(await send({ name: 'other', data: 1, event_id: 'o' })).toMatchObject({
    status: 202,
    body: { event_id: 'o', status: 'kept' },
  });
  expect(await send({ name: 'paid', data: { euros: 3 } })).toMatchObject({
    status: 202,
    body: { run_id: waiting.run_id, status: 'delivered' },
  });
  await until(
    'the run has ended',
    async () => (await life.stored(String(waiting.run_id))).status === 'completed',
  );
  expect((await life.stored(String(waiting.run_id))).content).toBe(3);
  expect((await send({ name: 'paid', data: { euros: 3 } })).status).toBe(409);
});
