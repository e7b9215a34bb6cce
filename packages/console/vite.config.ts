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

/** Pages that people open together are one file, with the libraries that only they use: the package has few files. */
const areas = {
  chat: /[\\/]src[\\/]pages[\\/](?:home|chat)[\\/]/,
  observe: /[\\/]src[\\/]pages[\\/](?:runs|traces|evals)[\\/]/,
  metrics: /[\\/]src[\\/]pages[\\/]metrics[\\/]|[\\/]uplot[\\/]/,
  manage: /[\\/]src[\\/]pages[\\/]|[\\/](?:croner|cronstrue)[\\/]/,
};

/** The modules that the shell and the chat import. Others are not part of the first load. */
const firstLoad = new Set<string>();

function firstLoaded(): Plugin {
  return {
    name: 'first-loaded',
    apply: 'build',
    buildEnd() {
      const collect = (id: string) => {
        if (firstLoad.has(id)) return;
        firstLoad.add(id);
        for (const imported of this.getModuleInfo(id)?.importedIds ?? []) collect(imported);
      };
      for (const id of this.getModuleIds())
        if (this.getModuleInfo(id)?.isEntry || areas.chat.test(id)) collect(id);
    },
  };
}

export default defineConfig({
  // addresses are relative to the <base> that the service writes into the page
  base: './',
  plugins: [react(), tailwindcss(), modules(), firstLoaded()],
  build: {
    target: 'es2022',
    sourcemap: false,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    // a data: address of a font or a script is not allowed in the page
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            ...Object.entries(areas).map(([name, test]) => ({ name, test, priority: 2 })),
            { name: 'shell', test: (id) => firstLoad.has(id) || id.includes('rolldown'), priority: 1 },
            { name: 'parts', test: /./ },
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
