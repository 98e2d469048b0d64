import { listFolder, readText } from '../files.ts'
import { findProgram, runProgram } from '../program.ts'

const RUNTIMES = ['apptainer', 'singularity', 'podman', 'docker', 'enroot']

/** Reads the state of slurmd, munged and the first installed container runtime. Null means not installed. */
export class ServiceReader {
  #root: string
  #pids = new Map<string, string>()
  #versions = new Map<string, Promise<string | null>>()

  constructor(root: string) {
    this.#root = root
  }

  async read() {
    const runtime = RUNTIMES.find(findProgram) ?? null
    return {
      slurmd_running: this.#isRunning('slurmd'),
      slurmd_version: await this.#version('slurmd', ['-V']),
      munge_running: this.#isRunning('munged'),
      container_runtime: runtime,
      container_runtime_version: runtime && (await this.#version(runtime, [runtime === 'enroot' ? 'version' : '--version'])),
    }
  }

  /** Whether Slurm can start jobs on this node: slurmd is installed, or it or a step runs from elsewhere. */
  runsSlurmJobs(): boolean {
    if (findProgram('slurmd')) return true
    const names = ['slurmd', 'slurmstepd']
    return listFolder(this.#root, '/proc').some(
      (name) => /^\d+$/.test(name) && names.includes(readText(this.#root, `/proc/${name}/comm`) ?? ''),
    )
  }

  /** Caches the PID and scans /proc only when that process is gone. */
  #isRunning(program: string): boolean | null {
    if (!findProgram(program)) return null
    const matches = (pid: string) => readText(this.#root, `/proc/${pid}/comm`) === program
    const cachedPid = this.#pids.get(program)
    if (cachedPid && matches(cachedPid)) return true
    const pid = listFolder(this.#root, '/proc').find((name) => /^\d+$/.test(name) && matches(name))
    if (pid) this.#pids.set(program, pid)
    return pid !== undefined
  }

  /** Runs each program once and caches its version. */
  #version(program: string, args: string[]): Promise<string | null> {
    const file = findProgram(program)
    if (!file) return Promise.resolve(null)
    if (!this.#versions.has(file))
      this.#versions.set(
        file,
        runProgram(program, args).then((stdout) => /\d+(?:\.\d+)+[\w.+~-]*/.exec(stdout ?? '')?.[0] ?? null),
      )
    return this.#versions.get(file)!
  }
}
