import { aiSdkModel } from '../../../src/core/models/ai-sdk/ai-sdk.js';
import type { AiSdkLanguageModel } from '../../../src/core/models/ai-sdk/types.js';

/** A model of the AI SDK that follows a script, and remembers what it was called with. */
export function fakeAiSdkModel(version: 'v2' | 'v3' | 'v4', turns: (object[] | Error)[]) {
  // biome-ignore lint/suspicious/noExplicitAny: what a model is called with differs from version to version.
  const calls: any[] = [];
  let cancelled = 0;
  const turn = () => {
    const next = turns[calls.length - 1];
    if (next === undefined || next instanceof Error) throw next ?? new Error('the script has ended');
    return next;
  };
  const model = {
    specificationVersion: version,
    provider: 'fake.chat',
    modelId: 'fake-1',
    supportedUrls: {},
    async doGenerate(options: object) {
      calls.push(options);
      return turn()[0];
    },
    async doStream(options: object) {
      calls.push(options);
      const parts = [...turn()];
      const stream = new ReadableStream({
        pull(controller) {
          const part = parts.shift();
          if (part) controller.enqueue(part);
          else controller.close();
        },
        cancel: () => void cancelled++,
      });
      return { stream };
    },
  } as unknown as AiSdkLanguageModel;
  const waits: number[] = [];
  const bridge = aiSdkModel(model, { wait: async (ms) => void waits.push(ms) });
  return { model, bridge, calls, waits, cancelled: () => cancelled };
}
