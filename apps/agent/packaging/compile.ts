import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import { readElf } from './elf.ts'

const agent = path.dirname(import.meta.dirname)
const root = path.join(agent, '../..')
const manifest = JSON.parse(fs.readFileSync(path.join(agent, 'package.json'), 'utf8'))

export const VERSION: string = manifest.version

/** Build targets: npm package of Bun, loader of the libc, and architecture name for deb and rpm (null for musl). */
export const TARGETS = {
  'linux-x64': { bun: '@oven/bun-linux-x64', loader: '/lib64/ld-linux-x86-64.so.2', deb: 'amd64', rpm: 'x86_64' },
  'linux-arm64': { bun: '@oven/bun-linux-aarch64', loader: '/lib/ld-linux-aarch64.so.1', deb: 'arm64', rpm: 'aarch64' },
  'linux-x64-musl': { bun: '@oven/bun-linux-x64-musl', loader: '/lib/ld-musl-x86_64.so.1', deb: null, rpm: null },
  'linux-arm64-musl': { bun: '@oven/bun-linux-aarch64-musl', loader: '/lib/ld-musl-aarch64.so.1', deb: null, rpm: null },
} as const
export type Target = keyof typeof TARGETS

const isMusl = !process.report.getReport || !Object(process.report.getReport()).header?.glibcVersionRuntime
/** Target of this machine; undefined when it is not supported. */
export const hostTarget = (Object.keys(TARGETS) as Target[]).find(
  (target) => target === `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`,
)

/** Compiles a single binary from Bun and the agent. It ignores .env and bunfig.toml in its working directory. */
export function compile(target: Target, file: string): void {
  if (!hostTarget) throw new Error(`Bun is not available for ${process.platform}-${process.arch}. Build the agent on Linux.`)
  const flags = ['--compile', '--minify', '--bytecode', '--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig']
  // JIT compilation takes 6 MB and does not pay off for code that runs twice a minute.
  flags.push('--compile-jit-policy=1000')
  const version = ['--define', `MUSTER_AGENT_VERSION=${JSON.stringify(VERSION)}`]
  const base = ['--target', target.replace('linux', 'bun-linux'), '--compile-executable-path', bunPath(target), '--outfile', file]
  execFileSync(bunPath(hostTarget), ['build', ...flags, ...version, ...base, path.join(agent, 'src/main.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const { machine, interpreter } = readElf(file)
  if (machine !== target.split('-')[1] || interpreter !== TARGETS[target].loader)
    throw new Error(`The binary for ${target} has the wrong architecture or libc: ${machine}, ${interpreter}`)
}

/** Path of Bun for a target: from node_modules, or downloaded and verified with the checksum in the lockfile. */
export function bunPath(target: Target): string {
  const name = TARGETS[target].bun
  const installed = path.join(agent, 'node_modules', name, 'bin/bun')
  if (fs.existsSync(installed)) return installed
  const version = manifest.optionalDependencies[name]
  const cache = path.join(root, '.tool/cache', name.replace('/', '-'), version)
  const file = path.join(cache, 'package/bin/bun')
  if (fs.existsSync(file)) return file
  fs.mkdirSync(cache, { recursive: true })
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', `${name}@${version}`], { cwd: cache, encoding: 'utf8' }),
  )
  const archive = path.join(cache, path.basename(filename))
  const expected = parse(fs.readFileSync(path.join(root, 'pnpm-lock.yaml'), 'utf8')).packages[`${name}@${version}`].resolution
    .integrity
  const actual = `sha512-${createHash('sha512').update(fs.readFileSync(archive)).digest('base64')}`
  if (actual !== expected) throw new Error(`${name}@${version} does not match the checksum in pnpm-lock.yaml: ${actual}`)
  execFileSync('tar', ['-xzf', archive, '-C', cache])
  fs.rmSync(archive)
  return file
}
