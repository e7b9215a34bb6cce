import { expect, test } from 'vitest';
import { certificateFaultIn } from './certificate-fault.js';

test.each([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])('%s: the authority is unknown', (code) => {
  expect(certificateFaultIn(code)).toContain(
    `(${code}). If your network has an authority of its own, start Node with NODE_EXTRA_CA_CERTS=`,
  );
});

test.each([
  'CERT_HAS_EXPIRED',
  'CRL_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
])('%s: the certificate is not valid', (code) => {
  expect(certificateFaultIn(code)).toBe(`its certificate is not valid (${code}).`);
});

test.each(['ECONNRESET', 'ERR_TLS_HANDSHAKE_TIMEOUT', 'EPROTO', 35, undefined])(
  '%s: not a fault of a certificate',
  (code) => {
    expect(certificateFaultIn(code)).toBeUndefined();
  },
);
