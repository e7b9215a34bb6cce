/** What an application prints while it is loaded must not become a part of what the command prints. */
export async function withoutOutput<T>(work: () => Promise<T>): Promise<T> {
  const { stdout, stderr } = process;
  const write = stdout.write;
  stdout.write = stderr.write.bind(stderr);
  try {
    return await work();
  } finally {
    stdout.write = write;
  }
}
