import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { settings } from '@muster/core/registry'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { root } from './root.ts'

type Service = {
  image?: string
  build?: { target: string; args?: Record<string, string> }
  user?: string
  read_only?: boolean
  command?: string[]
  healthcheck?: { test: string[] }
  cap_drop?: string[]
  depends_on?: Record<string, { condition: string }>
  environment?: Record<string, string>
  volumes?: string[]
  mem_limit?: string
  pids_limit?: number
  ports?: string[]
  security_opt?: string[]
  networks?: string[]
  secrets?: string[]
}

const read = (file: string) => fs.readFileSync(path.join(root, file), 'utf8')
const compose = read('docker-compose.yml')
/** Added to it where the boot service is used. */
const bootCompose = read('docker-compose.boot.yml')
const { services, secrets } = parse(compose, { merge: true }) as {
  services: Record<string, Service>
  secrets: Record<string, { file: string }>
}
const dockerfile = read('Dockerfile')
const ONE_SHOT = ['migrate', 'first-start', 'admin']

test('every service runs unprivileged, on a read-only image, with a health check', () => {
  for (const [name, service] of Object.entries(services)) {
    expect({ name, user: service.user }).toEqual({ name, user: expect.stringMatching(/^(node|postgres)$/) })
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    if (!ONE_SHOT.includes(name)) expect({ name, test: service.healthcheck?.test[0] }).toEqual({ name, test: 'CMD' })
  }
})

test('every service has memory and process limits', () => {
  for (const [name, service] of Object.entries(services)) {
    expect({ name, memory: service.mem_limit, pids: service.pids_limit }).toEqual({
      name,
      memory: expect.stringMatching(/^(\$\{\w+:-)?\d+[mg]\}?$/),
      pids: expect.any(Number),
    })
  }
})

test('the worker image has the programs that the worker starts', () => {
  const stage = /^FROM base AS worker\n([\s\S]*?)\n\n/m.exec(dockerfile)![1]!
  const installed = /apt-get install -y --no-install-recommends ([^&\\]+)/.exec(stage)![1]!.trim().split(/\s+/)
  expect(installed).toEqual(expect.arrayContaining(['python3', 'openssh-client', 'git', 'bubblewrap']))
})

test('workers mount a directory with playbooks and offline files, read-only', () => {
  const { environment, volumes } = services.worker!
  expect(volumes).toContain(`\${PLAYBOOKS_DIR:-./playbooks}:${environment!.ANSIBLE_PLAYBOOK_REPO_PATH}:ro`)
})

test('the console listens on this machine only, and nothing is privileged', () => {
  const published = Object.values(services).flatMap(({ ports }) => ports ?? [])
  expect(published).toEqual([expect.stringMatching(/^\$\{BIND_ADDRESS:-127\.0\.0\.1\}:/)])
  expect(compose).not.toMatch(/privileged: true|cap_add|seccomp:unconfined/)
})

test('secrets are files that one program creates, and no environment contains one', () => {
  for (const [name, { environment = {}, secrets: own = [] }] of Object.entries(services)) {
    const named = Object.entries(environment).filter(([, value]) => String(value).startsWith('/run/secrets/'))
    expect(named.every(([setting]) => setting.endsWith('_FILE'))).toBe(true)
    // A file that is named must be mounted, and no other one.
    expect({ name, files: named.map(([, value]) => path.basename(value)).sort() }).toEqual({ name, files: [...own].sort() })
    const isSecret = (setting: string) => /PASSWORD|SECRET|^DATABASE_\w*URL$/.test(setting) && !setting.endsWith('_FILE')
    const values = Object.keys(environment).filter(isSecret)
    expect({ name, values }).toEqual({ name, values: [] })
  }
  expect(services.worker!.secrets).not.toContain('database-url')
  const dir = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'muster-secrets-')), 'secrets')
  const create = () => spawnSync(path.join(root, 'bin/create-compose-secrets'), { env: { ...process.env, SECRETS_DIR: dir } })
  expect(create().status).toBe(0)
  const content = (name: string) => fs.readFileSync(path.join(dir, name), 'utf8')
  expect(
    Object.values(secrets)
      .map(({ file }) => path.basename(file))
      .sort(),
  ).toEqual(fs.readdirSync(dir).sort())
  expect(fs.statSync(dir).mode & 0o777).toBe(0o700)
  const passwords = ['database-url', 'database-app-url', 'database-system-url'].map((name) => new URL(content(name)).password)
  expect(new Set([...passwords, content('master-password')]).size).toBe(4)
  expect(content('postgres-password')).toBe(passwords[0])
  expect(passwords.every((password) => /^[0-9a-f]{64}$/.test(password))).toBe(true)
  expect(create().status).toBe(1)
  expect(content('postgres-password')).toBe(passwords[0])
  for (const file of ['.gitignore', '.dockerignore']) expect(read(file)).toMatch(/^\/?secrets\/?$/m)
  fs.rmSync(path.dirname(dir), { recursive: true })
})

test('workers share no network with the API, which trusts the address that the console reports', () => {
  const { worker, api, console } = services
  expect(api!.environment).toMatchObject({ TRUST_PROXY: 1 })
  for (const { networks } of [api!, console!]) expect(networks!.filter((name) => worker!.networks!.includes(name))).toEqual([])
  expect(api!.networks!.filter((name) => console!.networks!.includes(name))).toEqual(['front'])
  // A service without a list would join a network with all others.
  for (const [name, { networks }] of Object.entries(services))
    expect({ name, networks }).toMatchObject({ networks: expect.any(Array) })
})

test('every base image is a build argument, so that it can be pinned by digest', () => {
  const bases = [...dockerfile.matchAll(/^FROM \$\{(\w+)\}/gm)].map(([, name]) => name)
  const defaults = new Map([...dockerfile.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name, image]) => [name!, image!]))
  for (const { build } of Object.values(services))
    if (build) expect(Object.keys(build.args!).sort()).toEqual([...new Set(bases)].sort())
  for (const [name, value] of Object.entries(services.api!.build?.args ?? services.migrate!.build!.args!))
    expect(value).toBe(`\${${name}:-${defaults.get(name)}}`)
  expect(services.postgres!.image).toMatch(/^\$\{POSTGRES_IMAGE:-/)
})

test('workers have a seccomp profile that permits the sandbox and denies other calls by default', () => {
  const [, profile] = /"?seccomp:(\S+\.json)/.exec(services.worker!.security_opt!.join(' '))!
  const { defaultAction, syscalls } = JSON.parse(read(profile!)) as {
    defaultAction: string
    syscalls: { names: string[]; action: string; args: unknown[] | null; includes: object }[]
  }
  expect(defaultAction).toBe('SCMP_ACT_ERRNO')
  const [sandbox] = syscalls
  expect(sandbox).toMatchObject({ action: 'SCMP_ACT_ALLOW', args: [], includes: {} })
  expect(sandbox!.names).toEqual(['clone', 'clone3', 'unshare', 'mount', 'umount2', 'pivot_root'])
  for (const name of ['kexec_load', 'init_module', 'bpf', 'perf_event_open'])
    expect(
      syscalls.filter(
        ({ names, action, includes }) => names.includes(name) && action === 'SCMP_ACT_ALLOW' && !('caps' in includes),
      ),
    ).toEqual([])
})

test('every image is built from a Dockerfile target', () => {
  const targets = [...dockerfile.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, target]) => target)
  for (const { build } of Object.values(services)) if (build) expect(targets).toContain(build.target)
  const built = Object.values(services).flatMap(({ build, image }) => (build ? [image] : []))
  for (const { image } of Object.values(services)) if (image?.startsWith('muster-')) expect(built).toContain(image)
})

test('every program started by a container exists in the repository', () => {
  const commands = [...dockerfile.matchAll(/^CMD (\[.*\])$/gm)].map(([, json]) => JSON.parse(json!) as string[])
  for (const { command } of Object.values(services)) if (command) commands.push(command)
  expect(commands.length).toBeGreaterThanOrEqual(5)
  for (const [program, script] of commands) {
    expect(program).toBe('node')
    expect(fs.existsSync(path.join(root, script!)), script).toBe(true)
  }
})

test('the file with the boot service changes only the API, and publishes only its ports', () => {
  const { services } = parse(bootCompose) as { services: Record<string, Service> }
  expect(Object.keys(services)).toEqual(['api'])
  const { environment = {}, ports = [], volumes = [], ...others } = services.api!
  expect(others).toEqual({})
  expect(environment).toMatchObject({ BOOT_HOST: '0.0.0.0', BOOT_PORT: 8080, BOOT_TLS_PORT: `\${BOOT_TLS_CERT_FILE:+8443}` })
  expect(ports.map((port) => port.slice(port.lastIndexOf(':') + 1))).toEqual(['8080', '8443'])
  // On one address, by default only this machine.
  for (const port of ports) expect(port).toMatch(/^\$\{BOOT_ADDRESS:-127\.0\.0\.1\}:/)
  for (const name of ['BOOT_TLS_CERT_FILE', 'BOOT_TLS_KEY_FILE'])
    expect(volumes).toContain(`\${${name}:-/dev/null}:${String(environment[name]).slice(`\${${name}:+`.length, -1)}:ro`)
})

test('.env.example lists exactly the variables that the compose files read', () => {
  const used = new Set([...`${compose}${bootCompose}`.matchAll(/\$\{(\w+)/g)].map(([, name]) => name))
  const documented = [...read('.env.example').matchAll(/^(\w+)=/gm)].map(([, name]) => name)
  expect(documented.sort()).toEqual([...used].sort())
})

/** The images fix them, or they are read from files. */
const NOT_IN_COMPOSE = [
  'ANSIBLE_ISOLATION',
  'ANSIBLE_PLAYBOOK',
  'ANSIBLE_READABLE_PATHS',
  'AUTH_SECRET',
  'CREDENTIAL_KEY_VERSION',
  'CREDENTIAL_MASTER_PASSWORD_FD',
  'ISOLATION_UID_RANGE',
]

test('passes on every setting of the API and the workers', () => {
  const { services: more } = parse(bootCompose) as { services: Record<string, Service> }
  const all = [...Object.values(services), ...Object.values(more)]
  const passed = new Set(all.flatMap(({ environment }) => Object.keys(environment ?? {})))
  const missing = Object.keys(settings).filter((name) => !passed.has(name) && !passed.has(`${name}_FILE`))
  expect(missing.sort()).toEqual(NOT_IN_COMPOSE)
})
