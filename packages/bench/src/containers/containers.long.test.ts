import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Lab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { pickPort } from '@muster/standalone'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, connect } from '../client.ts'
import { CREATE_CREDENTIAL, CREATE_JOB_TEMPLATE, RUN_HOSTS } from '../documents.ts'
import { followRun, onboard, readRun, runJob, signIn } from '../onboard.ts'
import { Compose, unavailableReason } from './compose.ts'

const SERVICES = ['postgres', 'api', 'worker', 'console']
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const REPOSITORY = '/srv/plays.git'
/** Fails unless the sandbox hides the worker's secrets and runs without its capabilities, and the node answers. */
const PLAYBOOK = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: hostname
      changed_when: false
    - ansible.builtin.assert:
        that:
          - lookup('ansible.builtin.pipe', 'cat /run/secrets/master-password || echo hidden') == 'hidden'
          - lookup('ansible.builtin.pipe', 'ls /proc | grep -c "^[0-9]" ') | int < 40
          - lookup('ansible.builtin.pipe', 'touch /app/written || echo read-only') == 'read-only'
`
const reason = await unavailableReason()

describe.skipIf(reason !== null)('the services of docker-compose.yml', () => {
  let compose: Compose
  let lab: Lab
  let dir: string
  let port: number
  let api: Client
  let settings: Record<string, string>
  const writeSettings = () =>
    writeFileSync(
      join(dir, 'env'),
      Object.entries(settings)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    )
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'muster-compose-'))
    chmodSync(dir, 0o755)
    // Below the ephemeral ports: other programs may take one of these before the console listens, minutes later.
    port = await pickPort(28_000)
    settings = {
      SECRETS_DIR: join(dir, 'secrets'),
      PORT: String(port),
      MUSTER_PUBLIC_URL: `http://localhost:${port}`,
      POSTGRES_IMAGE: 'localhost/muster-base/postgres',
      // Two services of this machine's size.
      WORKER_CPUS: '2',
    }
    writeSettings()
    execFileSync(join(ROOT, 'bin/create-compose-secrets'), { env: { ...process.env, SECRETS_DIR: settings.SECRETS_DIR } })
    compose = new Compose(join(dir, 'env'))
    lab = await createLab({ nodes: 2, bastion: false })
  })
  afterAll(async () => {
    await compose?.remove()
    if (dir) rmSync(dir, { recursive: true, force: true })
  })

  test('become healthy with the secrets as files', async () => {
    await compose.start('postgres')
    await compose.complete('migrate')
    await compose.complete('first-start')
    for (const service of SERVICES.slice(1)) await compose.start(service)
    for (const service of SERVICES) {
      const environment = (await compose.inspect(service)).Config.Env.join('\n')
      for (const secret of await passwords()) expect(environment.includes(secret), service).toBe(false)
    }
  })

  test('run without privileges and within limits', async () => {
    for (const service of SERVICES) {
      const { EffectiveCaps, HostConfig, Config } = await compose.inspect(service)
      expect({ service, caps: EffectiveCaps ?? [], user: Config.User }).toEqual({
        service,
        caps: [],
        user: service === 'postgres' ? 'postgres' : 'node',
      })
      expect(HostConfig).toMatchObject({ ReadonlyRootfs: true, Memory: expect.any(Number), PidsLimit: expect.any(Number) })
      expect(Math.min(HostConfig.Memory, HostConfig.NanoCpus, HostConfig.PidsLimit)).toBeGreaterThan(0)
      expect(HostConfig.SecurityOpt.join(' ')).toContain('no-new-privileges')
      await expect(compose.exec(service, 'touch', '/etc/written')).rejects.toThrow(/Read-only file system/)
    }
  })

  test('reach only the services of their networks', async () => {
    expect((await compose.networks('worker')).sort()).toEqual(['nodes', 'worker-database'])
    const lookUp = (from: string, name: string) =>
      compose.exec(from, 'node', '-e', `require('dns').promises.lookup('${name}').then(() => 0, () => process.exit(1))`)
    await lookUp('worker', 'postgres')
    await lookUp('console', 'api')
    for (const [from, name] of [
      ['worker', 'api'],
      ['worker', 'console'],
      ['console', 'postgres'],
      ['console', 'worker'],
    ] as const)
      await expect(lookUp(from, name), `${from} resolves ${name}`).rejects.toThrow()
  })

  test('let the owner sign in over HTTP with the link of the first start', async () => {
    const line = (await compose.log('first-start')).split('\n').find((each) => each.includes('signInLink'))!
    const { signInLink } = JSON.parse(line) as { signInLink: string }
    let token: string | null = null
    api = connect(`http://127.0.0.1:${port}`, () => token)
    token = await signIn(api, signInLink.split('#token=')[1]!)
    const page = await fetch(`http://127.0.0.1:${port}/sign-in`)
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([200, expect.stringContaining("'nonce-")])
  })

  test('run a playbook of a git repository in the sandbox, on real nodes', async () => {
    await onboard(api, lab)
    const [server] = lab.nodes
    const { sshKey } = lab.credentials
    const created = await server!.exec(['sh', '-eu'], { input: createRepository(sshKey.username) })
    expect(created).toMatchObject({ code: 0 })
    const { credential } = await api.mutate(CREATE_CREDENTIAL, {
      input: {
        name: 'plays',
        kind: 'GIT',
        host: server!.host,
        port: server!.port,
        username: sshKey.username,
        privateKey: sshKey.privateKey,
        hostKey: server!.hostPublicKey,
      },
    })
    const git = {
      url: `ssh://${sshKey.username}@${server!.host}:${server!.port}${REPOSITORY}`,
      ref: 'main',
      credentialId: credential.id,
    }
    await api.mutate(CREATE_JOB_TEMPLATE, {
      input: { name: 'from_git', settings: { source: 'GIT', git, playbookPath: 'site.yml', become: false } },
    })
    const id = await runJob(api, { template: 'from_git', limit: 'all' })
    for await (const _ of followRun(api, id, 0));
    const { node } = await api.request(RUN_HOSTS, { id })
    const hosts = node?.__typename === 'JobRun' ? node.hosts.edges.map((edge) => edge.node) : []
    expect({ ...(await readRun(api, id)), hosts }).toMatchObject({ status: 'SUCCEEDED', hostCounts: { total: 2 } })
    expect(await compose.log('worker')).toContain('"isolation":"bubblewrap"')
  })

  test('pass all checks of muster-admin doctor', async () => {
    const findings = await compose.once('admin', 'doctor')
    expect(findings).toContain('Playbooks are isolated by bubblewrap')
    expect(findings.split('\n').filter((line) => /^[!✗]/.test(line))).toEqual([])
  })

  test('serve TLS with the files of a certificate, and refuse plain HTTP at other addresses', async () => {
    const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
    const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    execFileSync(
      'openssl',
      [...request, '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-out', cert, '-keyout', key],
      {
        stdio: 'ignore',
      },
    )
    execFileSync('chown', ['1000:1000', cert, key])
    Object.assign(settings, { BIND_ADDRESS: '0.0.0.0' })
    writeSettings()
    await compose.recreate('console')
    await expect.poll(() => compose.log('console')).toContain('passwords would cross the network unencrypted')
    Object.assign(settings, { TLS_CERT_FILE: cert, TLS_KEY_FILE: key, MUSTER_PUBLIC_URL: `https://localhost:${port}` })
    writeSettings()
    await compose.recreate('console')
    await compose.untilHealthy('console')
    const curl = [
      '--silent',
      '--cacert',
      cert,
      '--dump-header',
      '-',
      '--output',
      '/dev/null',
      `https://localhost:${port}/sign-in`,
    ]
    expect(execFileSync('curl', curl, { encoding: 'utf8' })).toMatch(/^HTTP\S+ 200/)
  })

  test('stop cleanly', async () => {
    await compose.stop('console', 'worker', 'api', 'postgres')
    for (const service of SERVICES) {
      const { Status, ExitCode } = (await compose.inspect(service)).State
      expect({ service, Status, ExitCode }).toEqual({ service, Status: 'exited', ExitCode: 0 })
    }
  })

  async function passwords(): Promise<string[]> {
    const read = (name: string) => execFileSync('cat', [join(dir, 'secrets', name)], { encoding: 'utf8' })
    const urls = ['database-url', 'database-app-url', 'database-system-url'].map((name) => new URL(read(name)).password)
    return [...urls, read('master-password')]
  }
})

/** A script that creates the repository on a lab node, for its SSH user. */
function createRepository(user: string): string {
  return `
export HOME=/root
work=$(mktemp -d)
cd "$work"
git init --quiet --initial-branch=main
cat > site.yml <<'PLAYBOOK'
${PLAYBOOK}PLAYBOOK
git add .
git -c user.name=t -c user.email=t@t.test commit --quiet -m first
git clone --quiet --bare "$work" ${REPOSITORY}
chown -R ${user} ${REPOSITORY}
`
}
