import { createRequire } from 'node:module';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The service that `npm run dev` shows. */
const service = process.env.RUNYARD_URL ?? 'http://127.0.0.1:7777';

/** Written last: its time says that all files are fresh. The packages of these modules are named in LICENSES.txt. */
const modulesFile = '.modules.json';

function modules(): Plugin {
  return {
    name: 'modules',
    apply: 'build',
    generateBundle(_options, bundle) {
      const ids = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
      // its styles have no module
      const styles = createRequire(import.meta.url).resolve('tailwindcss/package.json');
      this.emitFile({ type: 'asset', fileName: modulesFile, source: JSON.stringify([...ids, styles]) });
    },
  };
}

/** Pages that people open together are one file: a published package has few of them. */
const areas: readonly (readonly [name: string, pages: readonly string[]])[] = [
  ['chat', ['home', 'chat']],
  ['observe', ['runs', 'traces', 'metrics', 'evals']],
  [
    'manage',
    ['workflows', 'components', 'schedules', 'approvals', 'memory', 'learnings', 'knowledge', 'settings'],
  ],
];

export default defineConfig({
  // addresses are relative to the <base> that the service writes into the page
  base: './',
  plugins: [react(), tailwindcss(), modules()],
  build: {
    target: 'es2022',
    sourcemap: false,
    modulePreload: { polyfill: false },
    // a data: address of a font or a script is not allowed in the page
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // few files: what every page uses is one of them, and each page is one
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            // only the pages that use them load these
            { name: 'charts', test: /[\\/]uplot[\\/]/, priority: 3 },
            { name: 'markdown', test: /[\\/](?:marked[\\/]|ui[\\/]content[\\/]markdown)/, priority: 3 },
            {
              name: 'vendor',
              test: /rolldown.runtime|[\\/]node_modules[\\/]|[\\/]packages[\\/]client[\\/]/,
              priority: 2,
            },
            { name: 'shared', test: /[\\/]src[\\/](?:ui|data|connection|shell)[\\/]/, priority: 1 },
            ...areas.map(([name, pages]) => ({
              name,
              test: new RegExp(`[\\/]src[\\/]pages[\\/](?:${pages.join('|')})[\\/]`),
            })),
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['^/(?!$|src/|@|node_modules/|console|theme\\.js|index\\.html)'].map((path) => [
        path,
        { target: service, changeOrigin: true },
      ]),
    ),
  },
});
