import { z } from 'zod';
import type { Services } from '../../capabilities/capability.js';
import { assertMay } from '../../platform/auth/authenticator.js';
import { identifier } from '../../platform/http/request/fields.js';
import { defineRoute, type Route, type RouteRequest } from '../../platform/http/route.js';
import type { ComponentName } from '../common/exposed-components.js';
import { type Chat, cancelChat, resumeChat, sendToChat, shownChat } from './chat.js';
import { chatBody } from './chat-body.js';
import type { AiSdkConfig } from './options.js';

type Request = RouteRequest<Readonly<Record<string, string>>, unknown, unknown>;

interface ChatRoute {
  readonly method: 'GET' | 'POST';
  readonly below: string;
  readonly summary: string;
  readonly action: 'run' | 'read';
  readonly answer: (chat: Chat, request: Request) => unknown;
}

const chatRoutes: readonly ChatRoute[] = [
  {
    method: 'POST',
    below: '',
    summary: 'Send a message, or the answers to what a run waits for',
    action: 'run',
    // the route checked it
    answer: (chat, { body }) => sendToChat(chat, body as z.output<typeof chatBody>),
  },
  {
    method: 'GET',
    below: '/:chat_id/stream',
    summary: 'Follow the run of a chat again',
    action: 'read',
    answer: (chat, { params }) => resumeChat(chat, params.chat_id ?? ''),
  },
  {
    method: 'GET',
    below: '/:chat_id/messages',
    summary: 'The messages of a chat',
    action: 'read',
    answer: (chat, { params }) => shownChat(chat, params.chat_id ?? ''),
  },
  {
    method: 'POST',
    below: '/:chat_id/cancel',
    summary: 'Cancel the run of a chat',
    action: 'run',
    answer: (chat, { params }) => cancelChat(chat, params.chat_id ?? ''),
  },
];

const actions = { run: ['run'], read: ['read', 'run'] } as const;

/** The routes of one mounted interface: of its component, or of every component below a path of its own. */
export function aiSdkRoutes({ path, component }: AiSdkConfig): Route<Services>[] {
  if (component !== undefined) return routesOf(path, [component.kind], () => component);
  return (['agent', 'team', 'workflow'] as const).flatMap((kind) =>
    routesOf(`${path}/${kind}s/:${kind}_id`, [kind], (params) => ({
      kind,
      componentId: params[`${kind}_id`] ?? '',
    })),
  );
}

function routesOf(
  path: string,
  [kind]: readonly [ComponentName['kind']],
  targetOf: (params: Readonly<Record<string, string>>) => ComponentName,
): Route<Services>[] {
  return chatRoutes.map(({ method, below, summary, action, answer }) => {
    const scope = actions[action].map((one) => `${kind}s:${one}`);
    const names = [...(path + below).matchAll(/:(\w+)/g)].map(([, name = '']) => name);
    return defineRoute({
      method,
      path: path + below,
      operationId: `ai_sdk_${method}${(path + below).replace(/[^A-Za-z0-9]+/g, '_')}`.toLowerCase(),
      scope,
      tag: 'AI SDK',
      summary: `${summary} (AI SDK)`,
      params: z.object(Object.fromEntries(names.map((name) => [name, identifier()]))),
      ...(method === 'POST' && below === '' && { body: chatBody, carriesFiles: true }),
      responses: {
        200: { description: 'The stream of the UI message, or JSON.' },
        204: { description: 'No run of the chat is in progress.' },
      },
      addition: true,
      undocumented: true,
      handler: (services: Services, given) => {
        // the schemas above are those of a request
        const request = given as unknown as Request;
        const target = targetOf(request.params);
        const { caller, headers } = request;
        assertMay(caller, { scope, params: { [`${kind}_id`]: target.componentId } });
        return answer({ services, caller, target, headers, disconnected: () => request.signal }, request);
      },
    });
  });
}
