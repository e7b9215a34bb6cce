import { createClient } from '../../dist/index.js';
import { portableProgram } from './portable-program.js';

export async function run(baseUrl: string): Promise<string> {
  return JSON.stringify(await portableProgram(createClient, baseUrl));
}
