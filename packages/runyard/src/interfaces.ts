/** Further protocols for the components of a service: `new Runyard({ interfaces: [webSocket()] })`. */
export { type A2aOptions, a2a } from './interfaces/a2a/interface.js';
export type { DefinedInterface } from './interfaces/interface.js';
export { webSocket } from './interfaces/websocket/interface.js';
