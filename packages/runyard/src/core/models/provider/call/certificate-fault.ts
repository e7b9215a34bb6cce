/** What is wrong with the certificate of a provider, and what helps. Another try would fail in the same way. */
export function certificateFaultIn(code: unknown): string | undefined {
  if (typeof code !== 'string') return undefined;
  if (/^UNABLE_TO_|SELF_SIGNED_CERT/.test(code))
    return `no known authority has signed its certificate (${code}). If your network has an authority of its own, start Node with NODE_EXTRA_CA_CERTS=<file of its certificates>.`;
  return /^CERT_|^CRL_|^ERR_TLS_CERT_|^INVALID_CA$|^INVALID_PURPOSE$|^PATH_LENGTH_EXCEEDED$|^HOSTNAME_MISMATCH$/.test(
    code,
  )
    ? `its certificate is not valid (${code}).`
    : undefined;
}
