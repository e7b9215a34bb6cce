import {
  type CallToolResult,
  type ElicitRequestFormParams,
  type GetPromptResult,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { protocolVersions } from '../../src/interfaces/mcp/server/mcp-server.js';

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const silence = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const image = { type: 'image' as const, data: pixel, mimeType: 'image/png' };
const text = (said: string) => ({ type: 'text' as const, text: said });
const resource = (uri: string, mimeType: string, content: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: content },
});

const noArguments = { type: 'object' as const, properties: {} };
const oneText = (name: string) => ({
  type: 'object' as const,
  properties: { [name]: { type: 'string' } },
  required: [name],
});

type Execute = (
  args: Record<string, unknown>,
  context: ServerContext,
  server: Server,
) => CallToolResult['content'] | Promise<CallToolResult['content']>;

async function elicited(
  server: Server,
  context: ServerContext,
  message: string,
  requestedSchema: ElicitRequestFormParams['requestedSchema'],
) {
  const answer = await server.elicitInput(
    { mode: 'form', message, requestedSchema },
    { relatedRequestId: context.mcpReq.id },
  );
  return `action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`;
}

const options = ['one', 'two', 'three'];
const titled = options.map((option) => ({ const: option, title: `Option ${option}` }));

/** The tools that the suite asks for. */
const tools: Readonly<Record<string, { schema?: object; execute: Execute }>> = {
  test_simple_text: { execute: () => [text('This is a simple text response for testing.')] },
  test_image_content: { execute: () => [image] },
  test_audio_content: { execute: () => [{ type: 'audio', data: silence, mimeType: 'audio/wav' }] },
  test_embedded_resource: {
    execute: () => [resource('test://embedded-resource', 'text/plain', 'An embedded resource.')],
  },
  test_multiple_content_types: {
    execute: () => [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  },
  test_tool_with_logging: {
    async execute(_args, { mcpReq }) {
      for (const line of ['started', 'processing data', 'completed']) await mcpReq.log('info', line);
      return [text('Tool with logging executed successfully')];
    },
  },
  test_tool_with_progress: {
    async execute(_args, { mcpReq }) {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100])
        if (progressToken !== undefined)
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 100 },
          });
      return [text('Tool with progress executed successfully')];
    },
  },
  test_error_handling: {
    execute() {
      throw new Error('This tool intentionally returns an error for testing');
    },
  },
  test_sampling: {
    schema: oneText('prompt'),
    async execute({ prompt }, { mcpReq }, server) {
      const messages = [{ role: 'user' as const, content: text(String(prompt)) }];
      const { content } = await server.createMessage(
        { messages, maxTokens: 100 },
        { relatedRequestId: mcpReq.id },
      );
      return [text(`LLM response: ${JSON.stringify(content)}`)];
    },
  },
  test_elicitation: {
    schema: oneText('message'),
    execute: async ({ message }, context, server) => [
      text(
        `User response: ${await elicited(server, context, String(message), {
          type: 'object',
          properties: { username: { type: 'string' }, email: { type: 'string' } },
          required: ['username', 'email'],
        })}`,
      ),
    ],
  },
  test_elicitation_sep1034_defaults: {
    execute: async (_args, context, server) => [
      text(
        `Elicitation completed: ${await elicited(server, context, 'Defaults', {
          type: 'object',
          properties: {
            name: { type: 'string', default: 'John Doe' },
            age: { type: 'integer', default: 30 },
            score: { type: 'number', default: 95.5 },
            status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
            verified: { type: 'boolean', default: true },
          },
        })}`,
      ),
    ],
  },
  test_elicitation_sep1330_enums: {
    execute: async (_args, context, server) => [
      text(
        `Elicitation completed: ${await elicited(server, context, 'Enums', {
          type: 'object',
          properties: {
            untitledSingle: { type: 'string', enum: options },
            titledSingle: { type: 'string', oneOf: titled },
            legacyEnum: { type: 'string', enum: options, enumNames: ['One', 'Two', 'Three'] },
            untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
            titledMulti: { type: 'array', items: { anyOf: titled } },
          },
        })}`,
      ),
    ],
  },
  test_reconnection: {
    async execute(_args, { http, mcpReq }) {
      http?.closeSSE?.();
      await new Promise((resolve) => {
        setTimeout(resolve, 100);
        mcpReq.signal.addEventListener('abort', resolve);
      });
      return [text('Reconnection test completed successfully')];
    },
  },
  json_schema_2020_12_tool: {
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
      },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
    execute: () => [text('ok')],
  },
};

const prompts: Readonly<Record<string, { takes?: string[]; get(args: Record<string, string>): object }>> = {
  test_simple_prompt: { get: () => text('This is a simple prompt for testing.') },
  test_prompt_with_arguments: {
    takes: ['arg1', 'arg2'],
    get: ({ arg1, arg2 }) => text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  },
  test_prompt_with_embedded_resource: {
    takes: ['resourceUri'],
    get: ({ resourceUri = '' }) => resource(resourceUri, 'text/plain', 'Embedded resource content.'),
  },
  test_prompt_with_image: { get: () => image },
};

/** A server with everything that the conformance suite asks for. */
export function conformanceServer(): Server {
  const server = new Server(
    { name: 'conformance', version: '1' },
    {
      capabilities: {
        tools: {},
        prompts: {},
        resources: { subscribe: true },
        logging: {},
        completions: {},
      },
      supportedProtocolVersions: protocolVersions,
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(tools).map(([name, { schema = noArguments }]) => ({
      name,
      description: `${name} of the conformance suite`,
      // each of them is the schema of an object
      inputSchema: schema as typeof noArguments,
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    try {
      const tool = tools[params.name];
      if (tool === undefined) throw new Error(`Unknown tool ${params.name}`);
      return { content: await tool.execute(params.arguments ?? {}, context, server) };
    } catch (error) {
      return { content: [text(error instanceof Error ? error.message : String(error))], isError: true };
    }
  });
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(prompts).map(([name, { takes = [] }]) => ({
      name,
      description: `${name} of the conformance suite`,
      arguments: takes.map((argument) => ({ name: argument, required: true })),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params }) => {
    const content = prompts[params.name]?.get(params.arguments ?? {});
    const messages =
      content === undefined
        ? []
        : [
            { role: 'user', content },
            { role: 'user', content: text('Go on.') },
          ];
    // the contents above are those of prompts
    return { messages } as GetPromptResult;
  });
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park'], total: 2, hasMore: false },
  }));
  server.setRequestHandler('resources/list', () => ({
    resources: ['static-text', 'static-binary', 'watched-resource'].map((name) => ({
      uri: `test://${name}`,
      name,
      description: `${name} of the conformance suite`,
      mimeType: name === 'static-binary' ? 'image/png' : 'text/plain',
    })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: pixel }] };
    const [, id] = /^test:\/\/template\/(.+)\/data$/.exec(uri) ?? [];
    if (id === undefined)
      return { contents: [{ uri, mimeType: 'text/plain', text: `The content of ${uri}.` }] };
    const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: 'application/json', text: data }] };
  });
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  return server;
}
