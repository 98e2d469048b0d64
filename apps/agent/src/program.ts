import fs from 'node:fs'
import path from 'node:path'

const SYSTEM_FOLDERS = [
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
  '/opt/slurm/bin',
  '/opt/slurm/sbin',
]
const VENDOR_FOLDERS = [
  '/opt/rocm/bin',
  '/usr/local/PPU_SDK/ppu-smi/bin',
  '/usr/local/Ascend/driver/tools',
  '/usr/local/nvidia/bin',
]

/** npu-smi finds its libraries only after the driver's environment script was sourced. */
const ASCEND_LIBRARIES = ['', '/driver', '/common'].map((folder) => `/usr/local/Ascend/driver/lib64${folder}`)

const searchPath = () => [
  ...new Set([...(process.env.PATH ?? '').split(':').filter(path.isAbsolute), ...SYSTEM_FOLDERS, ...VENDOR_FOLDERS]),
]

/** Path of a program, or null when it is not installed. Cached for ten minutes. */
export function findProgram(program: string): string | null {
  const cached = programs.get(program)
  if (cached && performance.now() - cached.at < 600_000) return cached.file
  const file =
    searchPath()
      .map((folder) => path.join(folder, program))
      .find(isExecutable) ?? null
  programs.set(program, { file, at: performance.now() })
  return file
}
const programs = new Map<string, { file: string | null; at: number }>()

/**
 * Runs a program without a shell and returns its stdout; null when it is not installed, fails or times out. It gets only the environment
 * variables that locate files.
 */
export function runProgram(program: string, args: string[], { seconds = 5, acceptFailure = false } = {}): Promise<string | null> {
  const file = findProgram(program)
  if (!file) return Promise.resolve(null)
  const env = {
    PATH: searchPath().join(':'),
    LC_ALL: 'C',
    LD_LIBRARY_PATH: [process.env.LD_LIBRARY_PATH, ...(program === 'npu-smi' ? ASCEND_LIBRARIES : [])].filter(Boolean).join(':'),
    SLURM_CONF: process.env.SLURM_CONF ?? '',
  }
  const setVariables = Object.fromEntries(Object.entries(env).filter(([, value]) => value))
  // Loaded on demand: nodes without such programs save its memory.
  const { execFile } = process.getBuiltinModule('node:child_process')
  return new Promise((resolve) => {
    execFile(
      file,
      args,
      { timeout: seconds * 1000, killSignal: 'SIGKILL', maxBuffer: 1024 * 1024, env: setVariables },
      (error, stdout) => resolve(error && !acceptFailure ? null : stdout),
    )
  })
}

/** Caches the result of `read`, so that slow tools and the Slurm controller are not queried for every heartbeat. */
export function cacheFor<T>(seconds: number, read: () => Promise<T>): () => Promise<T> {
  let last: { at: number; value: Promise<T> } | undefined
  return () => {
    if (!last || performance.now() - last.at >= seconds * 1000) last = { at: performance.now(), value: read() }
    return last.value
  }
}

function isExecutable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK)
    return fs.statSync(file).isFile()
  } catch {
    return false
  }
}
