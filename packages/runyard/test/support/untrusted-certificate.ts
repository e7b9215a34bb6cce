import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * A certificate for 127.0.0.1 that no authority signed, and its key, which protects nothing: `openssl req -x509 -newkey
 * ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1`.
 */
const untrusted = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgsHAxH5nVFqWiFLQU
oEn7wKFZvEneVWypaWbUBBqwvMyhRANCAATz33YC2PkPmCyB/NKch6pbUSS2Seda
7mGvt03LN70KOH4Q7JPOUDBktT9hWA+fN1Ls6ypLQDeWn347jsZSiVI1
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBkDCCATagAwIBAgIUJ7TjknKhE3qfdcUFCpMfQi5QubMwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTExOTEwNTYxNFoYDzIxMjYxMDI2
MTA1NjE0WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATz33YC2PkPmCyB/NKch6pbUSS2Seda7mGvt03LN70KOH4Q7JPOUDBk
tT9hWA+fN1Ls6ypLQDeWn347jsZSiVI1o2QwYjAdBgNVHQ4EFgQU9+ZM/XrGLLet
zxgQk9l6lgPhAAEwHwYDVR0jBBgwFoAU9+ZM/XrGLLetzxgQk9l6lgPhAAEwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
ICwK046SN074CqNiW5W987UNCE/LFqiPsSRsbdZFT2R8AiEAzkGvQqY2AdDgEFDp
pmLLtOJtW3BdMl/7ij8jFRrjfLU=
-----END CERTIFICATE-----`,
};

/** The URL of a server with that certificate, which ends with the test. */
export async function untrustedServer(): Promise<string> {
  const server = createServer(untrusted).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
