import { agent, step, team, workflow } from '../../../src/index.js';
import { ScriptBook } from '../providers/script-book.js';
import type { Answer, Body, TestService } from '../service.js';

export const book = new ScriptBook();

const writer = agent({ id: 'writer', name: 'Writer', model: book.model });
const helper = agent({ id: 'helper', name: 'Helper', model: book.model });
const newsroom = team({ id: 'newsroom', name: 'Newsroom', model: book.model, members: [helper] });
const pipeline = workflow({
  id: 'pipeline',
  name: 'Pipeline',
  steps: [step({ name: 'draft', description: 'A first text', agent: writer })],
});

/** One of each kind. */
export const components = { agents: [writer, helper], teams: [newsroom], workflows: [pipeline] };

/** A message for which the leader delegates a task to its member. */
export function asking(message: string, task: string, answer = 'All done'): string {
  const call = { name: 'delegate_task_to_member', arguments: { member_id: 'helper', task } };
  return book.write(message, { toolCalls: [call] }, answer);
}

/** What a client does with sessions. */
export class Sessions {
  constructor(private readonly service: TestService) {}

  list(query = ''): Promise<Answer> {
    return this.service.get(`/sessions${query}`);
  }

  async names(query = ''): Promise<string[]> {
    return (await this.list(query)).body.data.map(({ session_id: id }: Body) => id);
  }

  create(body?: object, query = ''): Promise<Answer> {
    return this.send('POST', `/sessions${query}`, body);
  }

  get(sessionId: string, query = ''): Promise<Answer> {
    return this.service.get(`/sessions/${sessionId}${query}`);
  }

  change(sessionId: string, body: object, query = ''): Promise<Answer> {
    return this.send('PATCH', `/sessions/${sessionId}${query}`, body);
  }

  rename(sessionId: string, body: object, query = ''): Promise<Answer> {
    return this.send('POST', `/sessions/${sessionId}/rename${query}`, body);
  }

  delete(sessionId: string, query = ''): Promise<Answer> {
    return this.service.call('DELETE', `/sessions/${sessionId}${query}`);
  }

  deleteAll(body: object, query = ''): Promise<Answer> {
    return this.send('DELETE', `/sessions${query}`, body);
  }

  runs(sessionId: string, query = ''): Promise<Answer> {
    return this.service.get(`/sessions/${sessionId}/runs${query}`);
  }

  run(sessionId: string, runId: string, query = ''): Promise<Answer> {
    return this.service.get(`/sessions/${sessionId}/runs/${runId}${query}`);
  }

  /** Runs a component in a session. */
  async said(
    plural: 'agents' | 'teams' | 'workflows',
    id: string,
    sessionId: string,
    message: string,
    form: Record<string, string> = {},
  ): Promise<Body> {
    const fields = { message, stream: false, session_id: sessionId, ...form };
    return (await this.service.submit(`/${plural}/${id}/runs`, fields)).body;
  }

  private send(method: string, path: string, body: object | undefined): Promise<Answer> {
    const headers = { 'content-type': 'application/json' };
    return this.service.call(method, path, body === undefined ? {} : { body: JSON.stringify(body), headers });
  }
}
