import { z } from 'zod';
import { setting } from '../settings/setting.js';
import { isNetwork } from './defences/client-address.js';
import { isAllowedHost } from './defences/hosts.js';

const milliseconds = (minimum: number) => z.int().min(minimum).max(86_400_000);

/** The settings that keep a service up when its clients mean harm, or are only slow. */
export const limitSettings = {
  maxHeaderBytes: setting({
    about: 'The largest size of the headers of a request, including its address.',
    default: 32_768,
    schema: () => z.int().min(8_192).max(1_048_576),
  }),
  maxConnections: setting({
    about: 'How many connections one process holds at once; the service closes further ones.',
    default: 10_000,
    schema: () => z.int().min(1).max(1_000_000),
  }),
  requestTimeoutMs: setting({
    about: 'How long a request may take to arrive. The answer has no time limit.',
    default: 300_000,
    schema: () => milliseconds(1_000),
  }),
  keepAliveMs: setting({
    about: 'How long a connection stays open without a request.',
    default: 72_000,
    schema: () => milliseconds(1_000),
  }),
  slowClientMs: setting({
    about:
      'The time-out for slow clients: in each such interval a body must bring 16 KiB or end, and a client must read some of the pending data.',
    default: 30_000,
    schema: () => milliseconds(100),
  }),
  maxBodiesBytes: setting({
    about:
      'How many bytes all bodies in transfer may hold together; twice maxUploadBytes, and at least 64 MiB, when left out. Beyond it, the caller who holds most gets 503 and Retry-After for the largest body.',
    schema: () => z.int().min(1024).max(1_099_511_627_776),
  }),
  rateLimit: setting({
    about:
      'How many requests per minute a caller may make, counted over the processes that share a redis, otherwise by each process; no limit when left out.',
    schema: () => z.int().min(1).max(10_000_000),
  }),
  rateLimitBurst: setting({
    about: 'How many of these requests may arrive at once; as many as rateLimit when left out.',
    schema: () => z.int().min(1).max(10_000_000),
  }),
  trustedProxies: setting({
    about: 'Proxies from which the service accepts X-Forwarded-For and X-Forwarded-Host.',
    default: [],
    allowed: 'a list of addresses and networks such as 10.0.0.0/8',
    schema: () => z.array(z.string().refine(isNetwork)).max(1000),
  }),
  allowedHosts: setting({
    about:
      'Host names that requests may use besides localhost and the address of the service. A service on the loopback address rejects all others; on another address, it does so when the list has an entry.',
    default: [],
    allowed: 'a list of host names without ports such as app.example.com or *.example.com',
    schema: () => z.array(z.string().max(255).refine(isAllowedHost)).max(1000),
  }),
  fetchAllowedHosts: setting({
    about: 'Hosts from which the service may fetch for a caller although their addresses are not public.',
    default: [],
    allowed: 'a list of hosts such as files.internal or 10.0.0.7:8080',
    schema: () => z.array(z.string().regex(/^[^\s/@]+$/)).max(1000),
  }),
  fetchTimeoutMs: setting({
    about: 'How long fetching for a caller may take, including redirects.',
    default: 15_000,
    schema: () => milliseconds(100),
  }),
};
