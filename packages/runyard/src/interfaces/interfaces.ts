import { errors } from '../core/errors/errors.js';
import type { Settings } from '../platform/settings/config.js';
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
): { readonly type: string; readonly title: string; readonly url: string }[] {
  return definedInterfaces(given, settings)
    .filter(({ route }) => route !== '')
    .map(({ type, title, route }) => ({ type, title, url: url + route }));
}

/** What a client needs to know that looks for an interface at a path where there is nothing. */
export function interfaceHint(
  path: string,
  given: readonly DefinedInterface[] | undefined,
  settings: Settings,
): string | undefined {
  const isBelow = (route: string) => route !== '' && (path === route || path.startsWith(`${route}/`));
  const isSought = ({ route, about }: DefinedInterface) =>
    isBelow(route) || about.soughtAt?.includes(path) === true;
  const on = definedInterfaces(given, settings);
  const hint = on.find((one) => isSought(one) && one.about.hint !== undefined)?.about.hint;
  if (hint !== undefined) return hint;
  const isOff = (sought: string) => on.every(({ type }) => type !== sought);
  if (isBelow('/slack') && isOff('slack'))
    return 'Slack is off here. To turn it on, add slack({ agent: … }) to the interfaces of the application.';
  const off = interfaceSwitches
    .map(({ define }) => define(settings))
    .find((one) => isSought(one) && isOff(one.type));
  return off && offHint(off);
}

/** Both hints as a service needs them. */
export function hintsOf(given: readonly DefinedInterface[] | undefined, settings: Settings) {
  return {
    hintFor: (path: string) => interfaceHint(path, given, settings),
    webSocketHintFor: (path: string) => webSocketHint(path, given, settings),
  };
}

/** The hint for a client that opens a WebSocket at a path of that interface while it is off. */
function webSocketHint(
  path: string,
  given: readonly DefinedInterface[] | undefined,
  settings: Settings,
): string | undefined {
  const sought = webSocket();
  if (sought.about.soughtAt?.includes(path) !== true) return undefined;
  const isOn = definedInterfaces(given, settings).some(({ type }) => type === sought.type);
  return isOn ? undefined : offHint(sought);
}

function offHint({ title, type }: DefinedInterface): string {
  return `${title} is off here. To turn it on, set ${type}: true or ${environmentName(type)}=true.`;
}

/** `aiSdk` is RUNYARD_AI_SDK in the environment. */
function environmentName(setting: string): string {
  return `RUNYARD_${setting.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
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
        `Two interfaces of the type ${one.type} are mounted at ${one.route}. ${one.route === '' || one.type === 'mcp' ? 'Leave one of them out.' : `Give one of them another ${one.type === 'aiSdk' ? 'path' : 'prefix'}.`}`,
      );
  }
  for (const {
    about: { atRoot },
  } of all) {
    const same = all.filter(({ about }) => atRoot !== undefined && about.atRoot?.path === atRoot.path);
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
