import { fileURLToPath } from 'node:url';
import { dependencyVersions } from '../../platform/version.js';
import { installedSpec } from './installed-spec.js';

/** As seen from the bundle. */
const packageFolder = fileURLToPath(new URL('../..', import.meta.url));

/** The files of a new project, by name. */
export function projectFiles(name: string): Record<string, string> {
  return {
    'package.json': packageJson(name),
    'agents.ts': agents,
    'tsconfig.json': tsconfig,
    '.gitignore': 'node_modules/\n.runyard/\n.env\n',
    'README.md': readme(name),
  };
}

function packageJson(name: string): string {
  const content = {
    name,
    private: true,
    type: 'module',
    engines: { node: '>=20' },
    scripts: { dev: 'runyard dev', start: 'runyard start', check: 'tsc' },
    dependencies: { runyard: installedSpec(packageFolder), zod: `^${dependencyVersions.zod}` },
    devDependencies: { '@types/node': '^20.19.0', typescript: '^7.0.2' },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

const agents = `import { agent, Runyard, tool } from 'runyard';
import { z } from 'zod';

// With a key in the environment a real model answers; without one, the built-in stand-in.
const model = process.env.OPENAI_API_KEY ? 'openai:gpt-5-mini' : 'offline';

const add = tool({
  name: 'add',
  description: 'Add two numbers',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  readOnly: true,
  execute: ({ a, b }) => a + b,
});

const assistant = agent({
  id: 'assistant',
  name: 'Assistant',
  model,
  description: 'Answers questions and adds numbers.',
  instructions: ['Be brief and friendly.', 'Use the add tool for sums.'],
  tools: [add],
  addHistoryToContext: true,
});

export const app = new Runyard({ name: 'My agents', agents: [assistant] });
`;

const tsconfig = `{
  "compilerOptions": {
    "target": "ES2023",
    "module": "NodeNext",
    "strict": true,
    "noEmit": true,
    "skipLibCheck": true,
    "verbatimModuleSyntax": true,
    "allowImportingTsExtensions": true,
    "types": ["node"]
  },
  "include": ["**/*.ts"]
}
`;

function readme(name: string): string {
  return `# ${name}

Agents behind an HTTP interface, served by Runyard.

\`\`\`sh
npm install
npm run dev      # serves http://127.0.0.1:7777 and restarts when agents.ts, what it imports, or a setting changes
\`\`\`

Ask the agent something:

\`\`\`sh
curl http://127.0.0.1:7777/agents/assistant/runs -d 'message=Please add 2 and 40' -d stream=false
\`\`\`

The API browser is at http://127.0.0.1:7777/docs. The agents are in \`agents.ts\`; without \`OPENAI_API_KEY\` they
answer with a built-in model that needs no network. Sessions and runs are kept in \`.runyard/\`.

Settings come from \`new Runyard({ … })\`, \`runyard.json\`, \`RUNYARD_*\` variables and flags; later sources override earlier ones. Keys and
other variables can be in \`.env\`, one \`NAME=value\` per line.
`;
}
