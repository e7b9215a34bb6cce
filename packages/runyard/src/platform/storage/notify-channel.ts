// A channel belongs to a database; several installations may use its schemas. A name has at most 63 bytes.
export const notifyChannel = `'runyard_' || md5(current_schema())`;

/** Sends one hint to all processes that use a PostgreSQL database, when the transaction commits. */
export const notifyInTransaction = `SELECT pg_notify(${notifyChannel}, $1)`;
