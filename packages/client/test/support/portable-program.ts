import type { createClient as CreateClient } from '../../src/index.js';

/** What every platform has to be able to do. It uses nothing but the client and the web's own objects. */
export async function portableProgram(createClient: typeof CreateClient, baseUrl: string) {
  const client = createClient({ baseUrl });
  const run = await client.agents.run('reader', { message: 'Hello' });

  let reconnects = 0;
  const onReconnect = () => {
    reconnects += 1;
  };
  const stream = client.agents.stream('talker', { message: 'Cut' }, { onReconnect });
  const indices: number[] = [];
  for await (const { event, event_index } of stream) {
    indices.push(event_index);
    // the route cuts all connections, also this one
    if (event === 'CustomEvent' && reconnects === 0) await client.request('POST', '/cut').catch(() => {});
  }
  const streamed = await stream.result();

  const reports: { loaded: number; total: number }[] = [];
  const files = [new File(['.'.repeat(200_000)], 'large.txt', { type: 'text/plain' })];
  const onUploadProgress = (report: { loaded: number; total: number }) => {
    reports.push(report);
  };
  const upload = await client.agents.run(
    'reader',
    { message: 'What is in it?', files },
    { onUploadProgress },
  );

  const left = client.agents.stream('talker', { message: 'Left' });
  for await (const { event } of left) if (event === 'CustomEvent') break;
  const reason = new Error('enough');
  const controller = new AbortController();
  const aborting = client.agents.follow('talker', left.runId, { signal: controller.signal });
  const aborted = await (async () => {
    for await (const _event of aborting) controller.abort(reason);
  })().catch((error: unknown) => error === reason);
  await left.cancel();

  const errorCode = await client.sessions.get('unknown').catch((error) => error.errorCode);
  return {
    statuses: [run.status, streamed.status, upload.status],
    reconnects,
    indices,
    lastReport: reports.at(-1),
    aborted,
    errorCode,
  };
}
