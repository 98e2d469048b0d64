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

/** What the agent is built for: the package that has Bun for it, the loader of its libc, and what deb and rpm call the architecture (none where libc is musl). */
export const TARGETS = {
  'linux-x64': { bun: '@oven/bun-linux-x64', loader: '/lib64/ld-linux-x86-64.so.2', deb: 'amd64', rpm: 'x86_64' },
  'linux-arm64': { bun: '@oven/bun-linux-aarch64', loader: '/lib/ld-linux-aarch64.so.1', deb: 'arm64', rpm: 'aarch64' },
  'linux-x64-musl': { bun: '@oven/bun-linux-x64-musl', loader: '/lib/ld-musl-x86_64.so.1', deb: null, rpm: null },
  'linux-arm64-musl': { bun: '@oven/bun-linux-aarch64-musl', loader: '/lib/ld-musl-aarch64.so.1', deb: null, rpm: null },
} as const
export type Target = keyof typeof TARGETS

const isMusl = !process.report.getReport || !Object(process.report.getReport()).header?.glibcVersionRuntime
/** The target that runs here; undefined where there is none. */
export const here = (Object.keys(TARGETS) as Target[]).find(
  (each) => each === `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`,
)

/** Makes the one binary: Bun for the target with our program in it. Settings of Bun that lie about where it is started do not count. */
export function compile(target: Target, file: string): void {
  if (!here)
    throw new Error(`There is no Bun for ${process.platform}-${process.arch} that could build the agent; build it on Linux.`)
  const flags = ['--compile', '--minify', '--bytecode', '--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig']
  // Nothing that runs twice a minute is worth compiling to machine code, which takes 6 MB, also where our unit does not start it.
  flags.push('--compile-jit-policy=1000')
  const version = ['--define', `MUSTER_AGENT_VERSION=${JSON.stringify(VERSION)}`]
  const base = ['--target', target.replace('linux', 'bun-linux'), '--compile-executable-path', bun(target), '--outfile', file]
  execFileSync(bun(here), ['build', ...flags, ...version, ...base, path.join(agent, 'src/main.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const { machine, interpreter } = readElf(file)
  if (machine !== target.split('-')[1] || interpreter !== TARGETS[target].loader)
    throw new Error(`What was built for ${target} is a program for ${machine} that asks for ${interpreter}.`)
}

/** Bun for a target: out of node_modules, else fetched, and held against the checksum in the lockfile. */
function bun(target: Target): string {
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
  const found = `sha512-${createHash('sha512').update(fs.readFileSync(archive)).digest('base64')}`
  if (found !== expected) throw new Error(`${name}@${version} is not what pnpm-lock.yaml says: ${found}`)
  execFileSync('tar', ['-xzf', archive, '-C', cache])
  fs.rmSync(archive)
  return file
}
