import { connect } from 'node:net';
import { isMainThread } from 'node:worker_threads';

/** Loaded into every process of a server that the bench did not write: it reports what the process uses. */
if (isMainThread && process.env.METER_PORT !== undefined) {
  const socket = connect(Number(process.env.METER_PORT), '127.0.0.1');
  socket.on('error', () => {});
  socket.on('data', () => {
    const { user, system } = process.cpuUsage();
    socket.write(`${JSON.stringify({ cpu: user + system, rss: process.memoryUsage.rss() })}\n`);
  });
  // the server decides how long it lives
  socket.unref();
}
