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

/** The text of a profile's file, with the node's digits in it. */
export const fixture = (path: string, node = '0a1f'): string =>
  readFileSync(join(PROFILES, path), 'utf8').replaceAll('@NODE@', node)

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url))

/** The text of a file below fixtures/. */
export const sample = (path: string): string => readFileSync(join(FIXTURES, path), 'utf8')

export interface FakeNode {
  bin: string
  root: string
  /** A tool as a shell script (its body); replaces what the profile brought. */
  tool(name: string, script: string): FakeNode
  /** The tool `from` under the name `to`. */
  move(from: string, to: string): FakeNode
  delete(name: string): FakeNode
  remove(): void
}

/** A directory with fake vendor tools and one with the /sys, /proc and toolkit files of a profile. */
export function fakeNode(profile?: string, node = '0a1f'): FakeNode {
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
    else if (entry.isDirectory()) self.tool(entry.name, replay(from, node))
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

const replay = (folder: string, node: string) => `IFS=_; f="${folder}/$*"; [ $# -gt 0 ] || f="${folder}/_"
[ -f "$f.txt" ] || f="${folder}/_unknown"
sed "s/@NODE@/${node}/g" "$f.txt"
[ ! -f "$f.rc" ] || exit "$(cat "$f.rc")"`

export interface ProbeRun {
  stdout: Buffer
  stderr: string
  code: number | null
}

/** Runs the probe on a fake node the way a session does: `sh -s`, the script on stdin. `root: false` looks at this machine. */
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

/** The shells of this machine that a node may have as /bin/sh. */
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

/** Command lines of all processes that hold a text. */
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

/** Waits until a condition holds, looking every few milliseconds; says what it last saw when it never does. */
export async function eventually<T>(look: () => T, holds: (seen: T) => boolean, seconds = 5): Promise<T> {
  const end = Date.now() + seconds * 1000
  for (;;) {
    const seen = look()
    if (holds(seen)) return seen
    if (Date.now() > end) throw new Error(`did not come about; last seen: ${JSON.stringify(seen)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
