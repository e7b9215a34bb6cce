import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { Runyard } from '../../src/index.js';
import { loadSettings, type Settings } from '../../src/platform/settings/config.js';
import { recordingLog } from '../support/clients/http-server.js';
import type { Body } from '../support/service.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const text = (path: string) => readFileSync(join(root, path), 'utf8');
const chart = 'deploy/helm/runyard';
const templates = Object.fromEntries(
  readdirSync(join(root, chart, 'templates')).map((name) => [name, text(`${chart}/templates/${name}`)]),
);
const dockerfile = text('Dockerfile');
const compose: Body = parse(text('compose.yaml'), { merge: true });
const values: Body = parse(text(`${chart}/values.yaml`));
const unit = text('deploy/systemd/runyard.service');

/** The time that a stop takes at most after what the settings name: see "Stopping" in docs/deployment.md. */
const handOverSeconds = 10;

/** Settings from the environment alone; fails for a variable that no setting has. */
function settingsOf(env: Record<string, string>): Settings {
  const { settings, warnings } = loadSettings({ env, cwd: tmpdir() });
  expect(warnings).toEqual([]);
  return settings;
}

const stopSeconds = ({ drainMs, stopGraceMs }: Settings) => (drainMs + stopGraceMs) / 1000 + handOverSeconds;

const imageEnv = Object.fromEntries(
  Array.from(dockerfile.matchAll(/^(?:ENV| ) ((?:RUNYARD|NODE)_\w+)=(\S+)/gm), ([, name, value]) => [
    name!,
    value!,
  ]),
);

/** The variables of a service in compose.yaml, with something in the place of what comes from outside. */
function composeEnv(service: Body): Record<string, string> {
  const pairs = Object.entries<string | null>(service.environment).map(([name, value]) => [
    name,
    (value ?? 'key').replace(/\$\{\w+:\?[^}]+\}/g, 'from-outside-and-long-enough-to-be-a-key'),
  ]);
  return Object.fromEntries(pairs);
}

test('the image serves on the ports that it exposes, with settings that exist', () => {
  const settings = settingsOf(imageEnv);
  expect(settings).toMatchObject({ host: '0.0.0.0', dataDir: '/data', logFormat: 'json' });
  expect(dockerfile).toContain(`EXPOSE ${settings.port} ${settings.probePort}`);
  const last = dockerfile.slice(dockerfile.lastIndexOf('FROM '));
  expect(last).toMatch(/^FROM gcr\.io\/distroless\//);
  expect(last).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
  // without a shell there is nothing to interpret a line of text
  for (const line of last.match(/^\s*(?:ENTRYPOINT|CMD) .*/gm) ?? [])
    expect(JSON.parse(line.trim().split(/ (.*)/s)[1]!)).toBeInstanceOf(Array);
  expect(last).not.toMatch(/^RUN /m);
  const { bin } = JSON.parse(text('packages/runyard/package.json'));
  for (const file of [dockerfile, unit]) expect(file).toContain(`node_modules/runyard/${bin.runyard}`);
  expect(text('.dockerignore').split('\n')).toEqual(
    expect.arrayContaining(['**/node_modules', '**/.env', '.git']),
  );
});

test('compose starts three processes that migrate before, wait for each other, and have time to stop', () => {
  const { runyard, migrate, balancer, postgres, redis } = compose.services;
  const settings = settingsOf({ ...imageEnv, ...composeEnv(runyard) });
  expect(settings.database).toMatch(/^postgres:\/\/runyard:[\w-]+@postgres:5432\/runyard$/);
  expect(postgres.environment).toMatchObject({ POSTGRES_USER: 'runyard', POSTGRES_DB: 'runyard' });
  expect(Number.parseInt(runyard.stop_grace_period, 10)).toBeGreaterThan(stopSeconds(settings));
  expect([runyard.deploy.replicas, runyard.read_only, migrate.command]).toEqual([3, true, ['migrate']]);
  expect(migrate.environment).toEqual(runyard.environment);
  expect(runyard.depends_on.migrate.condition).toBe('service_completed_successfully');
  for (const one of [postgres, redis]) expect(one.healthcheck.test[0]).toBe('CMD');
  for (const port of balancer.ports) expect(port).toBe(`127.0.0.1:${settings.port}:${settings.port}`);
  const haproxy = text('deploy/compose/haproxy.cfg');
  expect(haproxy).toContain(`runyard:${settings.port}`);
  expect(haproxy).toContain('option httpchk GET /ready');
  const [, port, every, times] = /check port (\d+) inter (\d+)s fall (\d+)/.exec(haproxy)!.map(Number);
  expect(port).toBe(settings.probePort);
  expect(every! * times! * 1000).toBeLessThan(settings.drainMs);
  const silence = Number(/timeout server (\d+)s/.exec(haproxy)![1]) * 1000;
  expect(silence).toBeGreaterThan(settings.heartbeatMs);
  // no secret has a value here
  expect(text('compose.yaml')).not.toMatch(/^ *\w*(PASSWORD|KEY|SECRET)\w*: +[^\s$]/m);
});

test('the unit has settings that exist and time to stop', () => {
  const pairs = Array.from(unit.matchAll(/^Environment=(\w+)=(.*)$/gm), ([, name, value]) => [name!, value!]);
  const settings = settingsOf(Object.fromEntries(pairs));
  const stop = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1]);
  expect(stop).toBeGreaterThan(stopSeconds({ ...settings, drainMs: 5000 }));
  expect(settings.dataDir).toBe(`/var/lib/${/^StateDirectory=(\w+)$/m.exec(unit)![1]}`);
  for (const name of ['DynamicUser', 'NoNewPrivileges', 'PrivateTmp', 'ProtectHome'])
    expect(unit).toContain(`${name}=yes\n`);
});

test('the chart has settings, ports and probe paths that exist, and time to stop', () => {
  const all = Object.values(templates).join('\n');
  const named = [...all.matchAll(/name: (RUNYARD_\w+), value: (.+) \}$/gm)].map(([, name, value]) => [
    name!,
    value!.includes('{{') ? '1000' : value!.replaceAll('"', ''),
  ]);
  const settings = settingsOf({ ...Object.fromEntries(named), ...values.settings });
  const deployment = templates['deployment.yaml']!;
  expect(deployment).toContain(`{ name: http, containerPort: ${settings.port} }`);
  expect(deployment).toContain(`{ name: probe, containerPort: ${settings.probePort} }`);
  const paths = [...all.matchAll(/path: (\/\w+)/g)].map(([, path]) => path);
  expect(paths.sort()).toEqual(['/health', '/health', '/metrics', '/ready']);
  expect(deployment).toContain(
    `add .Values.stop.drainSeconds .Values.stop.graceSeconds ${handOverSeconds} }}`,
  );
  expect(all).toContain('RUNYARD_DRAIN_MS, value: {{ mul .Values.stop.drainSeconds 1000 | quote }}');
  expect(all).toContain('RUNYARD_STOP_GRACE_MS, value: {{ mul .Values.stop.graceSeconds 1000 | quote }}');
  const readiness = /readinessProbe:[\s\S]*?periodSeconds: (\d+)[\s\S]*?failureThreshold: (\d+)/.exec(
    deployment,
  )!;
  expect(Number(readiness[1]) * Number(readiness[2])).toBeLessThan(values.stop.drainSeconds);
  for (const variable of text(`${chart}/values.yaml`).match(/RUNYARD_\w+/g) ?? [])
    expect(Object.keys(environmentNames())).toContain(variable);
});

test('the templates of the chart use each value, and no other', () => {
  const all = Object.values(templates).join('\n');
  const used = new Set([...all.matchAll(/\.Values\.([\w.]+)/g)].map(([, path]) => path!));
  const given = leavesOf(values);
  for (const path of used) expect(valueAt(values, path), path).toBeDefined();
  for (const leaf of given) {
    const isUsed = [...used].some((path) => leaf === path || leaf.startsWith(`${path}.`));
    expect(isUsed, `${leaf} is not used`).toBe(true);
  }
  for (const [name, template] of Object.entries(templates)) {
    const opened = template.match(/\{\{-? (if|with|range|define) /g)?.length ?? 0;
    expect(template.match(/\{\{-? end -?\}\}/g)?.length ?? 0, name).toBe(opened);
  }
  const defined = new Set([...all.matchAll(/define "([\w.]+)"/g)].map(([, name]) => name));
  const included = new Set([...all.matchAll(/include "([\w.]+)"/g)].map(([, name]) => name));
  expect(included).toEqual(defined);
});

test('the health check of the image asks the probe port', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'runyard-health-'));
  const app = new Runyard({ port: 0, probePort: 0, dataDir, agents: [], log: recordingLog([]) });
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const { probeUrl } = await app.listen();
  const check = () =>
    new Promise((resolve) => {
      const env = { ...process.env, RUNYARD_PROBE_PORT: new URL(probeUrl!).port };
      const child = execFile(process.execPath, [join(root, 'deploy/docker/healthcheck.mjs')], { env });
      child.on('exit', resolve);
    });
  expect(await check()).toBe(0);
  await app.close();
  expect(await check()).toBe(1);
});

/** The variables that settings have, as docs/configuration.md lists them. */
function environmentNames(): Record<string, true> {
  const names = text('docs/configuration.md').match(/RUNYARD_[A-Z0-9_]+/g) ?? [];
  return Object.fromEntries(names.map((name) => [name, true]));
}

function leavesOf(value: Body, path = ''): string[] {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || Object.keys(value).length === 0) return [path];
  return Object.entries(value).flatMap(([key, inner]) =>
    leavesOf(inner, path === '' ? key : `${path}.${key}`),
  );
}

function valueAt(value: Body, path: string): unknown {
  return path.split('.').reduce((inner, key) => inner?.[key], value);
}
