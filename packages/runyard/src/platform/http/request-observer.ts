/** Hears of the requests of a server, to count them. Its methods must neither fail nor take time. */
export interface RequestObserver {
  /**
   * A request was answered, or its client went away before that (`status` null). A stream counts when it begins. `route`
   * is the template of its path, never the path.
   */
  requestEnded(method: string, route: string, status: number | null, ms: number): void;
}
