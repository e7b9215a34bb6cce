import { expect, it } from 'vitest';
import { agent } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { forEachDatabase } from '../../support/databases.js';
import { startService } from '../../support/service.js';

const learned = {
  user_profile: [{ field: 'language', value: 'English' }],
  user_memories: [],
  session_context: { summary: 'Greetings.', goal: '', plan: [], progress: [] },
};

forEachDatabase((_dialect, freshPlace) => {
  it('shows what an agent learned, and shows the agent what was changed by hand', async () => {
    const place = await freshPlace();
    await place.open();
    const model = scriptedModel(() => 'Hello.');
    const learning = { model: scriptedModel([JSON.stringify(learned), '{}'], { id: 'learner' }) };
    const agents = [agent({ id: 'a', model, learning })];
    const service = await startService({ agents, database: place.url });
    const { body } = await service.run('a', { message: 'Hi, in English', user_id: 'ada', session_id: 's' });
    expect(body.metrics.details.learning_model).toMatchObject([{ id: 'learner' }]);

    const listed = await service.get(
      '/learnings?user_id=ada&agent_id=a&sort_by=learning_type&sort_order=asc',
    );
    expect(listed.body.data).toMatchObject([
      { learning_id: 'session_context_s', content: { summary: 'Greetings.' }, session_id: 's' },
      { learning_id: 'user_profile_ada', content: { language: 'English' }, namespace: null, team_id: null },
    ]);
    const changed = await service.call('PATCH', '/learnings/user_profile_ada', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content: { language: 'Français', shoes: { size: 38 } } }),
    });
    expect(changed.status).toBe(200);
    await service.run('a', { message: 'And now?', user_id: 'ada', session_id: 'other' });
    const system = model.requests.at(-1)!.messages[0]!.content;
    expect(system).toContain('- language: Français\n- shoes: {"size":38}');
    expect(system).not.toContain('Greetings.');

    await service.call('DELETE', '/learnings/users/ada');
    await service.run('a', { message: 'Who am I?', user_id: 'ada', session_id: 'third' });
    expect(JSON.stringify(model.requests.at(-1)!.messages)).not.toContain('Français');
  });
});
