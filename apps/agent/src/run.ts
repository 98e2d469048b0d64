import fs from 'node:fs'
import path from 'node:path'

const FOLDERS = [
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

const searched = () => [
  ...new Set([...(process.env.PATH ?? '').split(':').filter(path.isAbsolute), ...FOLDERS, ...VENDOR_FOLDERS]),
]

/** Where a program is, or null. A node has it or not: asked again every ten minutes. */
export function find(program: string): string | null {
  const known = found.get(program)
  if (known && performance.now() - known.at < 600_000) return known.file
  const file =
    searched()
      .map((folder) => path.join(folder, program))
      .find(isProgram) ?? null
  found.set(program, { file, at: performance.now() })
  return file
}
const found = new Map<string, { file: string | null; at: number }>()

/**
 * What a program prints, with its arguments as they are and no shell; null when it is not there, fails or takes too long. It gets no
 * variables but those that say where things are, and is killed after the time.
 */
export function output(program: string, args: string[], { seconds = 5, failing = false } = {}): Promise<string | null> {
  const file = find(program)
  if (!file) return Promise.resolve(null)
  const env = {
    PATH: searched().join(':'),
    LC_ALL: 'C',
    LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH ?? '',
    SLURM_CONF: process.env.SLURM_CONF ?? '',
  }
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value))
  // Loaded when it is needed: a node without any such program saves its memory.
  const { execFile } = process.getBuiltinModule('node:child_process')
  return new Promise((resolve) => {
    execFile(
      file,
      args,
      { timeout: seconds * 1000, killSignal: 'SIGKILL', maxBuffer: 1024 * 1024, env: given },
      (error, stdout) => resolve(error && !failing ? null : stdout),
    )
  })
}

/** Keeps what `read` said for so long: tools that are slow or ask a controller are not called for every beat. */
export function every<T>(seconds: number, read: () => Promise<T>): () => Promise<T> {
  let last: { at: number; value: Promise<T> } | undefined
  return () => {
    if (!last || performance.now() - last.at >= seconds * 1000) last = { at: performance.now(), value: read() }
    return last.value
  }
}

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK)
    return fs.statSync(file).isFile()
  } catch {
    return false
  }
}
