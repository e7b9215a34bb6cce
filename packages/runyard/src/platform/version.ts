import { createRequire } from 'node:module';

interface PackageDescription {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

const own: PackageDescription = createRequire(import.meta.url)('../../package.json');

/** The version of this package, as published. */
export const version = own.version;

/** The versions of the packages that are installed with this one: each has one, and no range. */
export const dependencyVersions = own.dependencies;
