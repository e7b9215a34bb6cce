import { register } from 'node:module';
import { pathToFileURL } from 'node:url';

/*
 * Serves the entries of the pages one after the other, as `runyard start` does, so that what they import is loaded
 * once for all of them. The command itself is started by the tests of the command line.
 */
const [distribution] = process.argv.slice(2);
await import(new URL('index.js', distribution).href);
// Entries are TypeScript; Node 20 needs the hooks of the command for that.
register(new URL('cli/typescript-hooks.js', distribution));

const brand = Symbol.for('runyard.app');
let served;

process.on('message', async ({ folder, file, port }) => {
  try {
    const before = served;
    served = undefined;
    await before?.close();
    if (file !== undefined) await serve(folder, file, port);
    process.send({});
  } catch (error) {
    process.send({ fault: String(error?.stack ?? error) });
  }
});

async function serve(folder, file, port) {
  process.chdir(folder);
  const exported = Object.values(await import(pathToFileURL(file).href));
  const [app, ...others] = new Set(exported.filter(isApplication));
  if (app === undefined || others.length > 0) throw new Error(`${file} does not export one Runyard`);
  app.configure({ env: process.env, cwd: folder, flags: { port: String(port), logLevel: 'silent' } });
  served = app;
  await app.listen({ ownsProcess: true });
}

function isApplication(value) {
  return typeof value === 'object' && value !== null && brand in value;
}
