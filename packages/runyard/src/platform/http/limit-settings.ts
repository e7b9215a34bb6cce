import { z } from 'zod';
import { isNetwork } from './client-address.js';
import { isAllowedHost } from './hosts.js';

const milliseconds = (minimum: number) => z.int().min(minimum).max(86_400_000);

/** The settings that keep a service up when its clients mean harm, or are only slow. */
export const limitSettingsShape = {
  maxHeaderBytes: z
    .int()
    .min(8_192)
    .max(1_048_576)
    .default(32_768)
    .describe('How large the headers of a request may be, its address included.'),
  maxConnections: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(10_000)
    .describe('How many connections one process holds at once; further ones are closed.'),
  requestTimeoutMs: milliseconds(1_000)
    .default(300_000)
    .describe('How long a request may take to arrive. How long its answer takes is not bounded.'),
  keepAliveMs: milliseconds(1_000)
    .default(72_000)
    .describe('How long a connection stays open without a request.'),
  slowClientMs: milliseconds(100)
    .default(30_000)
    .describe(
      'How patient the service is: in each such span a body has to bring 16 KiB or its end, and a client has to take some of what is there for it.',
    ),
  maxBodiesBytes: z
    .int()
    .min(1024)
    .max(1_099_511_627_776)
    .optional()
    .describe(
      'How much the bodies that are being read may hold together; twice maxUploadBytes, and 64 MiB at least, when left out. Beyond it the caller who holds most gets 503 and Retry-After for the largest.',
    ),
  rateLimit: z
    .int()
    .min(1)
    .max(10_000_000)
    .optional()
    .describe('How many requests a caller may make in a minute, in each process; any number when left out.'),
  rateLimitBurst: z
    .int()
    .min(1)
    .max(10_000_000)
    .optional()
    .describe('How many of them may come at once; all of a minute when left out.'),
  trustedProxies: z
    .array(z.string().refine(isNetwork))
    .max(1000)
    .default([])
    .meta({ allowed: 'a list of addresses and networks such as 10.0.0.0/8' })
    .describe(
      'Proxies whose X-Forwarded-For and X-Forwarded-Host are believed when they say where a request comes from and which host it called.',
    ),
  allowedHosts: z
    .array(z.string().max(255).refine(isAllowedHost))
    .max(1000)
    .default([])
    .meta({ allowed: 'a list of host names without ports such as app.example.com or *.example.com' })
    .describe(
      'Host names by which the service may be called, besides localhost and the address that it listens on. A service on the loopback address refuses all others; one on another address does when this names any.',
    ),
  fetchAllowedHosts: z
    .array(z.string().regex(/^[^\s/@]+$/))
    .max(1000)
    .default([])
    .meta({ allowed: 'a list of hosts such as files.internal or 10.0.0.7:8080' })
    .describe('Hosts that may be fetched from for a caller although their addresses are not public.'),
  fetchTimeoutMs: milliseconds(100)
    .default(15_000)
    .describe('How long fetching something for a caller may take.'),
};
