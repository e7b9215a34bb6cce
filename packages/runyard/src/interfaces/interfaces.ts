import { errors } from '../core/errors/errors.js';
import type { Settings } from '../platform/config.js';
import { enabledA2a } from './a2a/interface.js';
import { enabledAgui } from './agui/interface.js';
import { enabledAiSdk } from './ai-sdk/interface.js';
import type { DefinedInterface, Interface, InterfaceSwitch } from './interface.js';
import { enabledMcp } from './mcp/interface.js';
import { enabledOpenai } from './openai/interface.js';
import { webSocket } from './websocket/interface.js';

/** All interfaces that a setting enables. To add one is to add its line. */
const interfaceSwitches: readonly InterfaceSwitch[] = [
  { isOn: ({ websocket }) => websocket, define: webSocket },
  { isOn: ({ mcp }) => mcp, define: enabledMcp },
  { isOn: ({ a2a }) => a2a, define: enabledA2a },
  { isOn: ({ agui }) => agui, define: enabledAgui },
  { isOn: ({ aiSdk }) => aiSdk, define: enabledAiSdk },
  { isOn: ({ openai }) => openai, define: enabledOpenai },
];

/** The interfaces of a service: those that the code defines, and those that a setting adds. Nothing else is loaded. */
export async function loadInterfaces(
  given: readonly DefinedInterface[] | undefined,
  settings: Settings,
  switches?: readonly InterfaceSwitch[],
): Promise<readonly Interface[]> {
  return Promise.all(definedInterfaces(given, settings, switches).map(loadedInterface));
}

/** Where the interfaces are that have a path of their own. */
export function interfaceAddresses(
  url: string,
  given: readonly DefinedInterface[] | undefined,
  settings: Settings,
): { readonly type: string; readonly url: string }[] {
  return definedInterfaces(given, settings)
    .filter(({ route }) => route !== '')
    .map(({ type, route }) => ({ type, url: url + route }));
}

const card = '/.well-known/agent-card.json';

/** What a client needs to know that looks for an interface at a path where there is nothing. */
export function interfaceHint(
  path: string,
  given: readonly DefinedInterface[] | undefined,
  settings: Settings,
): string | undefined {
  const isAt = ({ route }: DefinedInterface) => path === route || path.startsWith(`${route}/`);
  const on = definedInterfaces(given, settings);
  const agents = on.find((one) => one.type === 'a2a' && (isAt(one) || path === card));
  if (agents !== undefined)
    return `Give A2A clients the address of a component, with a slash at its end: ${agents.route}/agents/{id}/, ${agents.route}/teams/{id}/ or ${agents.route}/workflows/{id}/.`;
  const frontEnds = on.find((one) => one.type === 'agui' && isAt(one));
  if (frontEnds !== undefined)
    return `AG-UI clients post to the address of a component: ${frontEnds.route}/agents/{id}, ${frontEnds.route}/teams/{id} or ${frontEnds.route}/workflows/{id}; or to ${frontEnds.route} where agui() names one component.`;
  const chats = on.find((one) => one.type === 'aiSdk' && isAt(one));
  if (chats !== undefined)
    return `Give useChat the path of a component: ${chats.route}/agents/{id}, ${chats.route}/teams/{id} or ${chats.route}/workflows/{id}.`;
  const off = interfaceSwitches
    .filter(({ isOn }) => !isOn(settings))
    .map(({ define }) => define(settings))
    .find((one) => one.route !== '' && isAt(one) && on.every(({ type }) => type !== one.type));
  return (
    off &&
    `${inWords(off.type, ' ')} is off here. To turn it on, set ${off.type}: true or RUNYARD_${inWords(off.type, '_')}=true.`
  );
}

/** `aiSdk` is AI SDK in words, and AI_SDK in the environment. */
function inWords(type: string, between: string): string {
  return type.replace(/[A-Z]/g, `${between}$&`).toUpperCase();
}

/** The interfaces before they are loaded. */
function definedInterfaces(
  given: readonly DefinedInterface[] = [],
  settings: Settings,
  switches: readonly InterfaceSwitch[] = interfaceSwitches,
): readonly DefinedInterface[] {
  const added = switches
    .filter(({ isOn }) => isOn(settings))
    .map(({ define }) => define(settings))
    .filter(({ type }) => !given.some((one) => one.type === type));
  const all = [...given, ...added];
  for (const one of all) {
    if (all.some((other) => other !== one && other.type === one.type && other.route === one.route))
      throw errors.invalidConfig(
        `Two interfaces of the type ${one.type} are mounted at ${one.route}. ${one.route === '' || one.type === 'mcp' ? 'Leave one of them out.' : 'Give one of them another prefix.'}`,
      );
  }
  for (const { atRoot } of all) {
    const same = all.filter((other) => atRoot !== undefined && other.atRoot?.path === atRoot.path);
    if (same.length > 1)
      throw errors.invalidConfig(
        `The interfaces at ${same.map(({ route }) => route).join(' and ')} both have ${atRoot?.option}, and there is one ${atRoot?.path}. Give it to one of them.`,
      );
  }
  return all;
}

const loaded = new WeakMap<DefinedInterface, Promise<Interface>>();

/** A defined interface is loaded once, however many services are opened with it: the route table is built once for each. */
function loadedInterface(defined: DefinedInterface): Promise<Interface> {
  const known = loaded.get(defined) ?? defined.load();
  loaded.set(defined, known);
  // a package that is missing may be installed by the next attempt
  known.catch(() => loaded.delete(defined));
  return known;
}
