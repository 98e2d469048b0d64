import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { LabDescription } from './describe.ts'
import { identify, isAlive, type LabState, type ProcessRef } from './registry.ts'
import { listLabs } from './start-lab.ts'
import { connectTo } from './test-ssh.ts'

const POLL = { timeout: 15_000 }

const root = process.getuid?.() === 0
const main = path.join(import.meta.dirname, 'main.ts')
let dir: string
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'lab-owner-'))
  vi.stubEnv('MUSTER_LAB_DIR', path.join(dir, 'labs'))
})
afterAll(async () => {
  for (const lab of await listLabs()) await lab.down()
  await rm(dir, { recursive: true })
})

/** Starts a lab owned by a separate process. */
async function startOwner(...args: string[]): Promise<{ process: ChildProcess; lab: LabDescription }> {
  const child = spawn(process.execPath, [main, 'up', ...args, '--foreground'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = await once(createInterface({ input: child.stdout! }), 'line')
  return { process: child, lab: JSON.parse(line) }
}

/** Everything that a lab consists of on this machine: the processes in its pid namespaces, and its link. */
function resourcesOf({ dir: labDir }: LabDescription): { processes: ProcessRef[]; link: string | null } {
  const { supervisors, link } = JSON.parse(readFileSync(path.join(labDir, 'state.json'), 'utf8')) as LabState
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const parents = new Map(pids.map((pid) => [Number(pid), Number(/\) \S (\d+)/.exec(statOf(pid))?.[1] ?? 0)]))
  const within = (pid: number): boolean => pid === supervisors[0]!.pid || (pid > 1 && within(parents.get(pid) ?? 0))
  return { processes: [...parents.keys()].filter(within).map(identify), link }
}

function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
}

const mounts = () => readFileSync('/proc/self/mountinfo', 'utf8').split('\n').length
const run = promisify(execFile)
const lab = async (...args: string[]) => (await run(process.execPath, [main, ...args])).stdout

describe.runIf(root)('when its owner ends', () => {
  it('by SIGKILL, the lab’s processes end with it and the next use removes the rest', async () => {
    const before = mounts()
    const { process: child, lab: killed } = await startOwner('8')
    await lab('fault', 'cpu-01', 'latency', 'ms=1')
    using session = await connectTo(killed.nodes[0]!, killed.credentials.sshKey)
    await session.channel('setsid sleep 1000 & sleep 1000')
    const { processes, link } = resourcesOf(killed)
    // Two supervisors, and per host at least: its run_node shell, unshare, init, the sleep of init, sshd.
    expect(processes.length).toBeGreaterThan(2 + 9 * 5)
    expect(Object.keys(networkInterfaces())).toContain(link)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await expect.poll(() => processes.filter(isAlive), POLL).toEqual([])
    expect((await listLabs()).map(({ id }) => id)).not.toContain(killed.id)
    expect(existsSync(killed.dir)).toBe(false)
    expect(Object.keys(networkInterfaces())).not.toContain(link)
    expect(mounts()).toBe(before)
  })

  it.each(['SIGTERM', 'SIGINT', 'stdin'] as const)('by %s, everything is removed before it exits', async (way) => {
    const { process: child, lab: ended } = await startOwner('1', '--until-stdin-ends')
    const { processes, link } = resourcesOf(ended)
    if (way === 'stdin') child.stdin!.end()
    else child.kill(way)
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(processes.filter(isAlive)).toEqual([])
    expect(existsSync(ended.dir)).toBe(false)
    expect(Object.keys(networkInterfaces())).not.toContain(link)
  })

  it('without calling down, the lab is removed', async () => {
    const script = `import { startLab, describeLab } from ${JSON.stringify(path.join(import.meta.dirname, 'index.ts'))}
      const lab = await startLab({ nodes: 1 })
      console.log(JSON.stringify(describeLab(lab)))
      process.stdin.once('data', () => process.exit())`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
    const [line] = await once(createInterface({ input: child.stdout }), 'line')
    const abandoned: LabDescription = JSON.parse(line)
    const { processes } = resourcesOf(abandoned)
    child.stdin.end('\n')
    await once(child, 'exit')
    await expect.poll(() => processes.filter(isAlive), POLL).toEqual([])
    expect(existsSync(abandoned.dir)).toBe(false)
  })
})

describe.runIf(root)('the command line', () => {
  it('starts a lab that outlives the command, lists, breaks, heals and stops it', async () => {
    const up: LabDescription = JSON.parse(await lab('up', '2', '--json'))
    expect(JSON.parse(await lab('list', '--json'))).toEqual([up])
    expect(await lab('list')).toContain(`gpu-h100-02          ${up.nodes[1]!.host}:22`)
    await lab('fault', 'gpu-h100-01', 'port-closed')
    await expect(connectTo(up.nodes[0]!, up.credentials.sshKey)).rejects.toThrow(/ECONNREFUSED/)
    await lab('heal', 'gpu-h100-01')
    using session = await connectTo(up.nodes[0]!, up.credentials.sshKey)
    expect((await session.run('hostname')).stdout).toBe('gpu-h100-01\n')
    const { processes } = resourcesOf(up)
    await lab('down', up.id)
    expect(processes.filter(isAlive)).toEqual([])
    expect(await lab('list')).toBe('No lab is running.\n')
  })

  it.each([
    [['up', 'many'], 'Invalid number of nodes "many".'],
    [['up', '1', '--mode', 'cloud'], 'Unknown mode "cloud". Modes: namespaces, loopback.'],
    [['down', 'nothing'], 'No lab nothing is running.'],
    [['fault', 'gpu-h100-01', 'reboot'], 'No running lab has a node "gpu-h100-01".'],
  ])('reports the error of %j', async (args, message) => {
    await expect(run(process.execPath, [main, ...args])).rejects.toMatchObject({ code: 1, stderr: `${message}\n` })
  })
})

/** Runs the lab as an unprivileged user that exists only in a mount namespace. */
const asTester = `set -e
mount -t tmpfs tmpfs /mnt
mkdir /mnt/repository /mnt/node
mount --bind "$2" /mnt/repository
mount --bind "$1" /mnt/node
cp /etc/passwd /mnt/passwd
echo 'tester:x:4242:4242::/mnt:/bin/sh' >> /mnt/passwd
mount --bind /mnt/passwd /etc/passwd
cd /mnt/repository
exec setpriv --reuid 4242 --regid 4242 --clear-groups env -u MUSTER_LAB_DIR /mnt/node/node packages/lab/src/main.ts up 3 --foreground --until-stdin-ends`

describe.runIf(root)('an owner without root', () => {
  it('gets sshd processes with the same tools, keys and most faults, and lists the unavailable ones', async () => {
    const repository = path.resolve(import.meta.dirname, '../../..')
    const script = path.join(dir, 'as-tester.sh')
    await writeFile(script, asTester)
    const child = spawn('unshare', ['--mount', '/bin/sh', script, path.dirname(process.execPath), repository], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const [line] = await once(createInterface({ input: child.stdout }), 'line')
    const up: LabDescription = JSON.parse(line)
    expect(up.mode).toBe('loopback')
    expect(up.credentials.sshKey.username).toBe('tester')
    expect(up.credentials.sshPassword).toBe(null)
    expect(up.unavailable.reboot).toMatch(/share this machine's kernel/)
    using session = await connectTo(up.nodes[2]!, up.credentials.sshKey)
    expect(session.fingerprint).toBe(up.nodes[2]!.hostKeyFingerprint)
    expect((await session.run('id -un; amd-smi version')).stdout).toMatch(/^tester\n.*AMDSMI/)
    const { processes } = resourcesOf(up)
    expect(processes.length).toBeGreaterThan(3)
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(processes.filter(isAlive)).toEqual([])
    await rm('/tmp/muster-lab-4242', { recursive: true })
  })
})
