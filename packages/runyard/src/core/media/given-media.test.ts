import { describe, expect, expectTypeOf, test } from 'vitest';
import { step } from '../../index.js';
import { agent, team, workflow } from '../../library.js';
import type { AgentRunOptions } from '../agents/run-options.js';
import type { ModelRequest } from '../models/model.js';
import { scriptedModel } from '../models/scripted.js';
import type { WorkflowRunOptions } from '../workflows/run-in-code.js';
import type { GivenMedia, RunMediaOptions } from './given-media.js';

const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3, 0xff]);
const base64 = Buffer.from(bytes).toString('base64');

/** What the model saw of a message with these media, and their bytes. */
async function seen(options: AgentRunOptions) {
  const model = scriptedModel(['Seen.']);
  await agent({ id: 'a', model }).runOrThrow('Look', options);
  return mediaOf(model.requests[0]!);
}

async function mediaOf({ messages, media: contents }: ModelRequest) {
  return Promise.all(
    (messages.at(-1)?.media ?? []).map(async ({ id, hash, ...media }) => ({
      ...media,
      ...(hash !== undefined && { bytes: await contents?.get(hash) }),
    })),
  );
}

describe('media of a run in code', () => {
  test.each<[string, RunMediaOptions, object]>([
    ['bytes', { images: [bytes] }, { kind: 'image', bytes, size: 9 }],
    ['a URL', { images: [new URL('https://x.test/a.png')] }, { kind: 'image', url: 'https://x.test/a.png' }],
    [
      'an address with facts',
      { videos: [{ url: 'https://x.test/a', mimeType: 'video/mp4', details: { fps: 1 } }] },
      { kind: 'video', url: 'https://x.test/a', mimeType: 'video/mp4', details: { fps: 1 } },
    ],
    [
      'a data URL',
      { images: [{ url: `data:image/png;base64,${base64}` }] },
      { kind: 'image', bytes, size: 9, mimeType: 'image/png', format: 'png' },
    ],
    [
      'a Blob',
      { audio: [new Blob([bytes], { type: 'audio/wav' })] },
      { kind: 'audio', bytes, size: 9, mimeType: 'audio/wav', format: 'wav' },
    ],
    [
      'a File',
      { files: [new File([bytes], 'paper.pdf', { type: 'application/pdf' })] },
      { kind: 'file', bytes, size: 9, mimeType: 'application/pdf', format: 'pdf', filename: 'paper.pdf' },
    ],
    [
      'a picture among the files, by its name',
      { files: [{ bytes, filename: 'picture.JPG' }] },
      { kind: 'image', bytes, size: 9, mimeType: 'image/jpeg', format: 'jpg', filename: 'picture.JPG' },
    ],
    [
      'a document of an unknown type',
      { files: [{ bytes: new Blob([bytes]), mimeType: 'application/x-own', filename: 'a.own' }] },
      { kind: 'file', bytes, size: 9, mimeType: 'application/x-own', filename: 'a.own' },
    ],
  ])('%s', async (_, options, expected) => {
    expect(await seen(options)).toEqual([expected]);
  });

  test('come in the order of their kinds, and are not among the options of the run', async () => {
    const media = await seen({ files: [{ bytes, mimeType: 'text/plain' }], images: [bytes, bytes] });
    expect(media.map(({ kind }) => kind)).toEqual(['image', 'image', 'file']);
  });

  test.each<[string, unknown, string]>([
    ['a text', { images: ['a.png'] }, "agent.run(): images[0] is 'a.png'. Give a URL, a Uint8Array, a Blob"],
    ['no list', { images: bytes }, 'agent.run(): images is a value of the type Uint8Array. Give a list.'],
    ['nothing', { files: [{ mimeType: 'text/plain' }] }, 'agent.run(): files[0] needs url or bytes.'],
    ['both', { files: [{ url: 'https://x.test', bytes }] }, 'files[0] needs url or bytes, not both'],
    ['a path', { files: [{ path: 'a.png' }] }, 'agent.run(): files[0].path is not an option.'],
    ['a file URL', { images: [new URL('file:///a.png')] }, 'the url must begin with http://'],
    ['no base64', { images: [{ url: 'data:image/png;base64,!' }] }, 'images[0] has a data URL whose content'],
    ['no bytes', { audio: [new Blob([])] }, 'agent.run(): audio[0] is empty.'],
    ['too many', { images: Array(101).fill(bytes) }, 'images has 101 entries, the limit is 100.'],
    [
      'too much together',
      { images: Array(60).fill(new Uint8Array(1_000_000)) },
      'the media have 60000000 bytes together, the limit is 52428800.',
    ],
  ])('are refused: %s', async (_, options, message) => {
    const model = scriptedModel(['Seen.']);
    await expect(agent({ id: 'a', model }).run('Look', options as AgentRunOptions)).rejects.toThrow(message);
    expect(model.requests).toHaveLength(0);
  });

  test('are those of the moment of the call, whatever happens to them later', async () => {
    const model = scriptedModel(['Seen.']);
    const given = Uint8Array.from(bytes);
    const images: GivenMedia[] = [given];
    const run = agent({ id: 'a', model }).runOrThrow('Look', { images });
    given.fill(0);
    images.push(new Uint8Array(0));
    await run;
    expect(await mediaOf(model.requests[0]!)).toMatchObject([{ bytes }]);
  });

  test('may be objects of a class', async () => {
    class Picture {
      get bytes() {
        return bytes;
      }
      get mimeType() {
        return 'image/png';
      }
    }
    expect(await seen({ images: [new Picture()] })).toMatchObject([{ bytes, mimeType: 'image/png' }]);
  });

  test('reach teams and the steps of workflows', async () => {
    const leader = scriptedModel(['Seen.']);
    const member = agent({ id: 'm', model: 'offline' });
    await team({ id: 't', model: leader, members: [member] }).run('Look', { images: [bytes] });
    expect(await mediaOf(leader.requests[0]!)).toMatchObject([{ kind: 'image', bytes }]);
    const inStep = scriptedModel(['Seen.']);
    const steps = [step({ name: 'look', agent: agent({ id: 's', model: inStep }) })];
    await workflow({ id: 'w', steps }).run('Look', { images: [bytes] });
    expect(await mediaOf(inStep.requests[0]!)).toMatchObject([{ kind: 'image', bytes }]);
  });

  test('have the same types everywhere', () => {
    expectTypeOf<AgentRunOptions>().toExtend<RunMediaOptions>();
    expectTypeOf<WorkflowRunOptions>().toExtend<RunMediaOptions>();
    expectTypeOf<Buffer>().toExtend<GivenMedia>();
    expectTypeOf<File>().toExtend<GivenMedia>();
    expectTypeOf<string>().not.toExtend<GivenMedia>();
    expectTypeOf<{ mimeType: string }>().not.toExtend<GivenMedia>();
  });
});
