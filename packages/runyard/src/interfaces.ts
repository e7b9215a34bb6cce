/** Further protocols for the components of a service: `new Runyard({ interfaces: [webSocket()] })`. */
export type { DefinedInterface } from './interfaces/interface.js';
export { webSocket } from './interfaces/websocket/interface.js';
