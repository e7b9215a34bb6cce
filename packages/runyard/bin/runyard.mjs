#!/usr/bin/env node
// Kept to syntax that old versions of Node can parse, so that they can say that they are too old.
const major = Number(process.versions.node.split('.')[0]);
if (major < 20) {
  console.error(`Runyard needs Node 20 or newer; this is Node ${process.versions.node}.`);
  process.exit(1);
} else {
  // Where Node can keep compiled code, the next start is quicker.
  import('node:module').then((module) => {
    if (module.enableCompileCache) module.enableCompileCache();
  });
  import('../bundle/cli/main.js').then(
    (cli) => cli.main(process.argv.slice(2)),
    (error) => {
      const unbuilt =
        error && error.code === 'ERR_MODULE_NOT_FOUND' && /bundle.cli.main\.js/.test(error.message);
      console.error(unbuilt ? 'This copy of Runyard is not built yet. Run: npm run build' : error);
      process.exit(1);
    },
  );
}
