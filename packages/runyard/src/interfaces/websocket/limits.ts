/** The limits of a client until it has proved who it is, and how often that is checked again. */
export interface SocketLimits {
  /** How long a connection may stay without a token. */
  readonly unprovenMs: number;
  /** How much it may send until then: enough for all attempts with the longest token. */
  readonly unprovenBytes: number;
  /** How many connections may wait for a token at a time. */
  readonly unprovenConnections: number;
  /** How many tokens may be refused in a row. */
  readonly failedAttempts: number;
  /** How often the tokens of clients that only listen are checked again. */
  readonly recheckMs: number;
}

export const usualLimits: SocketLimits = {
  unprovenMs: 60_000,
  unprovenBytes: 131_072,
  unprovenConnections: 1_000,
  failedAttempts: 5,
  recheckMs: 5_000,
};

/** How long clients may take to say goodbye. */
export const goodbyeMs = 1_000;
