import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { createCredential } from '@muster/core/credentials'
import type { Hop } from '@muster/core/credentials/access'
import { schema } from '@muster/core/registry'
import { makeHostKey, makeKeyPair, makePrivateKey } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createBastionPool } from './ssh/bastion-pool.ts'
import { connectNode } from './ssh/connect.ts'
import { type MaliciousSshServer, serveMaliciousSsh } from './testing/malicious/ssh-server.ts'
import { nodeAccessFor } from './testing/node-access.ts'
import { createRunFixture, type RunFixture, realAnsible } from './testing/run-fixture.ts'

const PASSWORD = 'correct horse'
const PINNED = makeHostKey()
const ROOT = join(import.meta.dirname, '../../..')

let server: MaliciousSshServer
let fixture: RunFixture
const bastions = createBastionPool()
const opened: { close(): void }[] = []
beforeAll(async () => {
  fixture = await createRunFixture({ ANSIBLE_PLAYBOOK: realAnsible(), SSH_TIMEOUT: 5 })
})
beforeEach(async () => {
  server = await serveMaliciousSsh()
  opened.push(server)
})
afterAll(async () => {
  bastions.close()
  for (const each of opened) each.close()
  await fixture?.close()
})

const at = () => ({ host: '127.0.0.1', port: server.port })
const LOGINS = {
  password: { username: 'ops', password: PASSWORD },
  key: { username: 'ops', privateKey: makePrivateKey() },
}

/** Connects in the process of the worker, as connection tests, discoveries and rotations do, and returns the failure. */
async function connectWith(login: keyof typeof LOGINS, { hops, port }: { hops?: Hop[]; port?: number } = {}) {
  const lab = { name: 'node', ...at(), hostPublicKey: PINNED }
  const access = nodeAccessFor(lab as never, LOGINS[login], { hops: hops ?? [], hostKey: PINNED, ...(port ? { port } : {}) })
  const failures = []
  for (const showHostKey of [true, false])
    failures.push(
      await connectNode(access, { timeoutMs: 5000, bastions, showHostKey }).then(
        () => 'connected',
        (error: Error) => error.message,
      ),
    )
  return failures.join('\n')
}
const hopTo = (port: number, hostKey: string, name: string): Hop => ({
  credentialId: '00000000-0000-7000-8000-000000000003',
  name,
  host: '127.0.0.1',
  port,
  login: LOGINS.password,
  hostKey,
  offeredHostKey: null,
})

/** A bastion with the pinned key, which forwards connections. */
async function serveBastion(): Promise<Hop> {
  const key = makeKeyPair()
  const bastion = new ssh2.Server({ hostKeys: [key.private] }, (client) => {
    client.on('error', () => {})
    client.on('authentication', (auth) => auth.accept())
    client.on('tcpip', (accept, _reject, { destPort }) => {
      const channel = accept()
      const socket = connect(destPort, '127.0.0.1').on('error', () => channel.end())
      channel
        .on('error', () => socket.destroy())
        .pipe(socket)
        .pipe(channel)
    })
  })
  opened.push(bastion)
  await new Promise<void>((resolve) => bastion.listen(0, '127.0.0.1', resolve))
  return hopTo((bastion.address() as AddressInfo).port, key.public.split(' ').slice(0, 2).join(' '), 'edge')
}

let count = 0
/** Runs a playbook with OpenSSH on a node of the attacker, or behind a bastion of the attacker, and returns what the run reports. */
async function runOn(columns: object): Promise<string> {
  const name = `target${++count}`
  const credential = await fixture.given.credential(fixture.admin, 'SSH_PASSWORD', {
    password: PASSWORD,
    allowedHosts: ['127.0.0.1'],
  })
  const node = { name, ...at(), hostKey: PINNED, credentialId: credential.id }
  await fixture.given.fleet(fixture.admin, { with: { ...node, ...columns } })
  const { done } = await fixture.start({ template: 'connectivity_check', limit: name })
  const { run, hosts } = await done
  expect(run.status).not.toBe('SUCCEEDED')
  // A connection test, which the first table covers, explains what SSH does not.
  const { connectionTests } = schema
  expect(await fixture.runtime.db.$count(connectionTests, eq(connectionTests.nodeId, hosts[0]!.nodeId!))).toBe(1)
  return `${hosts[0]!.message}`
}
const bastionOf = async () => {
  const fields = { ...at(), username: 'jump', password: PASSWORD }
  const { id } = await createCredential(fixture.admin, { name: `bastion${++count}`, kind: 'BASTION', ...fields })
  const pinned = { hostKey: PINNED, hostKeyApprovedAt: new Date() }
  await fixture.runtime.db.update(schema.credentials).set(pinned).where(eq(schema.credentials.id, id))
  return id
}

/** Fetches a repository over SSH and returns what the run reports. */
async function fetchRepository(): Promise<string> {
  const fields = { host: '127.0.0.1', port: server.port, privateKey: LOGINS.key.privateKey, hostKey: PINNED }
  const { id } = await createCredential(fixture.admin, { name: `git${++count}`, kind: 'GIT', ...fields })
  const gitUrl = `ssh://git@127.0.0.1:${server.port}/plays`
  const columns = { source: 'git' as const, gitUrl, gitRef: 'main', gitCredentialId: id, playbookPath: 'site.yml' }
  const template = await fixture.template(`git${count}`, '', columns)
  const { id: credentialId } = await fixture.given.credential(fixture.admin, 'SSH_KEY')
  const [node] = await fixture.given.fleet(fixture.admin, { prefix: `git${count}-`, with: { credentialId } })
  const { done } = await fixture.start({ template, nodeIds: [node!.id] })
  const { run } = await done
  return `${run.error}`
}

const CHANGED = /host key has changed/
const REFUSED = /HOST IDENTIFICATION HAS CHANGED|[Hh]ost key verification failed/

/** Each way to connect over SSH, by the file that opens the connection or configures it. */
const SITES: Record<string, [name: string, connect: () => Promise<string>, reason: RegExp][]> = {
  'apps/worker/src/ssh/handshake.ts': [
    ['a node, by password', () => connectWith('password'), CHANGED],
    ['a node, by key', () => connectWith('key'), CHANGED],
    ['a bastion', () => connectWith('password', { hops: [hopTo(server.port, PINNED, 'edge')] }), CHANGED],
    ['a node behind a bastion', async () => connectWith('password', { hops: [await serveBastion()] }), CHANGED],
    [
      'a second bastion',
      async () => connectWith('password', { hops: [await serveBastion(), hopTo(server.port, PINNED, 'inner')] }),
      CHANGED,
    ],
  ],
  'apps/worker/src/ansible/run-directory/run-files.ts': [
    ['a node of a run', () => runOn({}), REFUSED],
    ['a bastion of a run', async () => runOn({ bastionId: await bastionOf() }), /closed by UNKNOWN port/],
  ],
  'apps/worker/src/ansible/source/git-access.ts': [['a repository', fetchRepository, REFUSED]],
}

describe('a server with another host key gets no secret', () => {
  const cases = Object.values(SITES).flat()
  test.each(cases)('as %s', async (_name, attempt, reason) => {
    expect(await attempt()).toMatch(reason)
    expect(server.connections()).toBeGreaterThan(0)
    expect(server.received).toEqual([])
  })
})

test('the list has every place that connects over SSH', () => {
  const files = ['apps', 'packages']
    .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`))
    .filter((name) => !['packages/lab', 'packages/bench'].includes(name))
    .flatMap((name) => sourcesIn(`${name}/src`))
  // A new place needs an entry in SITES.
  const connects = (text: string) =>
    (/from 'ssh2'/.test(text) && /\bnew (ssh2\.)?Client\(/.test(text)) ||
    /StrictHostKeyChecking|spawn\w*\(\s*'(ssh|scp|sftp)'/.test(text)
  const found = files.filter((file) => connects(readFileSync(join(ROOT, file), 'utf8')))
  expect(found.sort()).toEqual(Object.keys(SITES).sort())
})

function sourcesIn(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
  return entries
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|(^|\/)testing\//.test(name))
    .map((name) => `${folder}/${name}`)
}
