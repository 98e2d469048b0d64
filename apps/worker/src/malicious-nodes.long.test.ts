import { readdirSync, readFileSync } from 'node:fs'
import type { OwnedLab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addMaliciousAccounts, type MaliciousShell } from './testing/malicious/shells.ts'
import { pinnedKey } from './testing/node-access.ts'
import { createRunFixture, type RunFixture, realAnsible } from './testing/run-fixture.ts'

const GIB = 1024 ** 3
const FACTS = 10 * GIB
/** Limit for all Ansible processes together; each of the floods may use 32 MiB for output, and several copies of it. */
const MAX_MEMORY = 1.5 * GIB
const FLOODS: MaliciousShell[] = ['stdout', 'stderr', 'line', 'ansible']
const SHELLS: MaliciousShell[] = [...FLOODS, 'silent', 'escapes']
const PLAYBOOK = `- hosts: all
  gather_facts: true
  tasks:
    - ansible.builtin.ping:
`

let lab: OwnedLab
let fixture: RunFixture
beforeAll(async () => {
  lab = await createLab({ nodes: ['good', 'evil'].map((name) => ({ name, profile: 'cpu' as const })) })
  fixture = await createRunFixture({ ANSIBLE_PLAYBOOK: realAnsible(), SSH_TIMEOUT: 10 })
})
afterAll(() => fixture?.close())

/** Memory in bytes of the processes that this one started, directly or not, whose command matches. */
function memoryOfChildren(pattern: RegExp): number {
  const processes = new Map<number, { parent: number; bytes: number; command: string }>()
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each)))
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8')
      const field = (key: string) => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      processes.set(Number(name), { parent: field('PPid'), bytes: field('RssAnon') * 1024, command })
    } catch {}
  const isOurs = (pid: number): boolean => pid === process.pid || (processes.has(pid) && isOurs(processes.get(pid)!.parent))
  return [...processes].reduce((sum, [pid, { bytes, command }]) => sum + (pattern.test(command) && isOurs(pid) ? bytes : 0), 0)
}

describe.runIf(process.getuid?.() === 0)('a run on malicious nodes', () => {
  const nodes = new Map<string, string>()
  let template: string
  beforeAll(async () => {
    const { username, privateKey, publicKey } = lab.credentials.sshKey
    await addMaliciousAccounts(lab.node('evil'), publicKey, Object.fromEntries(SHELLS.map((name) => [name, name])), FACTS)
    for (const name of ['good', ...SHELLS]) {
      const host = lab.node(name === 'good' ? 'good' : 'evil')
      const sshUser = name === 'good' ? username : name
      const { id: credentialId } = await fixture.given.credential(fixture.admin, 'SSH_KEY', { username: sshUser, privateKey })
      const node = { name, host: host.host, port: host.port, sshUser, hostKey: pinnedKey(host), credentialId }
      nodes.set(name, (await fixture.given.fleet(fixture.admin, { with: node }))[0]!.id)
    }
    template = await fixture.template('facts', PLAYBOOK)
  })
  const start = async (names: string[], timeoutSeconds: number) => {
    const nodeIds = names.map((name) => nodes.get(name)!)
    const { done } = await fixture.start({ template, nodeIds, timeoutSeconds, forks: 10 })
    const { hosts, ...result } = await done
    return { ...result, host: (name: string) => hosts.find((each) => each.name === name)! }
  }

  test('fails on them in bounded memory and names the reason; the other nodes complete', async () => {
    let peak = 0
    const timer = setInterval(() => {
      peak = Math.max(peak, memoryOfChildren(/ansible-playbook/))
    }, 100)
    const { run, host, log } = await start(['good', ...FLOODS, 'escapes'], 600)
    clearInterval(timer)
    expect(run.status).toBe('PARTIAL')
    expect(host('good')).toMatchObject({ result: 'OK', ok: 2 })
    for (const name of FLOODS)
      expect(host(name)).toMatchObject({ result: 'FAILED', message: expect.stringContaining('sent more than 32 MiB') })
    expect(host('escapes')).toMatchObject({ result: 'FAILED' })
    // Ansible prints the output as JSON.
    expect(log).not.toContain('\u001b[2J')
    expect(log.length).toBeLessThan(100_000)
    expect(peak).toBeGreaterThan(0)
    expect(peak).toBeLessThan(MAX_MEMORY)
  })

  test('ends after its timeout and names a node that does not answer; the results of other nodes remain', async () => {
    const { run, host, log } = await start(['good', 'silent'], 20)
    expect(run.status).toBe('TIMED_OUT')
    expect(host('good').ok).toBe(1)
    expect(host('silent')).toMatchObject({ result: 'INTERRUPTED', message: 'the run ended in the middle of this task' })
    expect(log).toContain('In the middle of a task: silent.')
  })
})
