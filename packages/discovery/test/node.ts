import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { probeCommand } from '../src/index.ts'

const PROFILES = fileURLToPath(new URL('../fixtures/profiles/', import.meta.url))

/** Reads a file of a profile and inserts the node's digits. */
export const readProfileFile = (path: string, node = '0a1f'): string =>
  readFileSync(join(PROFILES, path), 'utf8').replaceAll('@NODE@', node)

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url))

/** Reads a file below fixtures/. */
export const readFixture = (path: string): string => readFileSync(join(FIXTURES, path), 'utf8')

export interface FakeNode {
  bin: string
  root: string
  /** Adds or replaces a tool with a shell script. */
  tool(name: string, script: string): FakeNode
  /** Renames a tool. */
  move(from: string, to: string): FakeNode
  delete(name: string): FakeNode
  remove(): void
}

/** Creates fake vendor tools and the /sys, /proc and toolkit files of a profile. */
export function createFakeNode(profile?: string, node = '0a1f'): FakeNode {
  const home = mkdtempSync(join(tmpdir(), 'muster-probe-'))
  const [bin, root] = [join(home, 'bin'), join(home, 'root')]
  mkdirSync(bin)
  mkdirSync(root)
  const self: FakeNode = {
    bin,
    root,
    tool(name, script) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
      return self
    },
    move(from, to) {
      renameSync(join(bin, from), join(bin, to))
      return self
    },
    delete(name) {
      rmSync(join(bin, name))
      return self
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
  if (!profile) return self
  for (const entry of readdirSync(join(PROFILES, profile), { withFileTypes: true })) {
    const from = join(PROFILES, profile, entry.name)
    if (entry.name === 'extra') copyExtra(from, root, node)
    else if (entry.isDirectory()) self.tool(entry.name, replayScript(from, node))
  }
  for (const line of readFileSync(join(PROFILES, profile, 'pci.txt'), 'utf8')
    .trim()
    .split('\n')) {
    const [address = '', vendor, device, classId, numa, driver = ''] = line.split(' ')
    const place = join(root, 'sys/bus/pci/devices', address)
    mkdirSync(place, { recursive: true })
    const files = { vendor: `0x${vendor}`, device: `0x${device}`, class: `0x${classId}`, numa_node: numa }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), `${text}\n`)
    symlinkSync(`../../../bus/pci/drivers/${driver}`, join(place, 'driver'))
  }
  return self
}

function copyExtra(from: string, root: string, node: string): void {
  cpSync(from, root, { recursive: true, verbatimSymlinks: true })
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile()) writeFileSync(path, readFileSync(path, 'utf8').replaceAll('@NODE@', node))
  }
}

const replayScript = (folder: string, node: string) => `IFS=_; f="${folder}/$*"; [ $# -gt 0 ] || f="${folder}/_"
[ -f "$f.txt" ] || f="${folder}/_unknown"
sed "s/@NODE@/${node}/g" "$f.txt"
[ ! -f "$f.rc" ] || exit "$(cat "$f.rc")"`

export interface ProbeRun {
  stdout: Buffer
  stderr: string
  code: number | null
}

/** Runs the probe on a fake node with `sh -s` and the script on stdin. `root: false` probes this machine. */
export function runProbe(
  node: FakeNode,
  options: { shell?: string[]; toolSeconds?: number; root?: boolean; path?: string } = {},
): Promise<ProbeRun> {
  const [shell = 'sh', ...args] = options.shell ?? ['sh']
  const { stdin } = probeCommand({ toolSeconds: options.toolSeconds ?? 10 })
  const env = {
    PATH: options.path ?? `${node.bin}:/usr/bin:/bin`,
    HOME: '/',
    ...(options.root === false ? {} : { MUSTER_ROOT: node.root }),
  }
  return new Promise((resolve, reject) => {
    const child = spawn(shell, [...args, '-s'], { env, stdio: 'pipe' })
    const stdout: Buffer[] = []
    let stderr = ''
    child.stdout.on('data', (chunk) => stdout.push(chunk))
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ stdout: Buffer.concat(stdout), stderr, code }))
    child.stdin.end(stdin)
  })
}

/** Shells of this machine that nodes may have as /bin/sh. */
export const SHELLS: { name: string; argv: string[] }[] = [
  { name: 'dash', argv: ['/usr/bin/dash'] },
  { name: 'bash', argv: ['/usr/bin/bash', '--posix'] },
  { name: 'busybox', argv: ['/usr/bin/busybox', 'sh'] },
  { name: 'sh', argv: ['/bin/sh'] },
]
  .filter((shell) => existsSync(shell.argv[0] ?? ''))
  .filter(
    (shell, index, all) =>
      all.findIndex((other) => realpathSync(other.argv[0] ?? '') === realpathSync(shell.argv[0] ?? '')) === index,
  )

/** Command lines of all processes that contain a text. */
export function processesWith(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(join('/proc', pid, 'cmdline'), 'utf8').replaceAll('\0', ' ')]
      } catch {
        return []
      }
    })
    .filter((line) => line.includes(text))
}
