import { names, text } from '../files.ts'
import { find, output } from '../run.ts'

const RUNTIMES = ['apptainer', 'singularity', 'podman', 'docker', 'enroot']

/** Slurm's and munge's daemons, and the first container runtime that is installed. Null: not installed, so not expected to run. */
export class Services {
  #root: string
  #pids = new Map<string, string>()
  #versions = new Map<string, Promise<string | null>>()

  constructor(root: string) {
    this.#root = root
  }

  async read() {
    const runtime = RUNTIMES.find(find) ?? null
    return {
      slurmd_running: this.#runs('slurmd'),
      slurmd_version: await this.#version('slurmd', ['-V']),
      munge_running: this.#runs('munged'),
      container_runtime: runtime,
      container_runtime_version: runtime && (await this.#version(runtime, [runtime === 'enroot' ? 'version' : '--version'])),
    }
  }

  /** Its process is remembered: all of /proc is looked through only when it is not there (any more). */
  #runs(program: string): boolean | null {
    if (!find(program)) return null
    const isIt = (pid: string) => text(this.#root, `/proc/${pid}/comm`) === program
    const known = this.#pids.get(program)
    if (known && isIt(known)) return true
    const pid = names(this.#root, '/proc').find((name) => /^\d+$/.test(name) && isIt(name))
    if (pid) this.#pids.set(program, pid)
    return pid !== undefined
  }

  /** Asked once for each place in which a program is found. */
  #version(program: string, args: string[]): Promise<string | null> {
    const file = find(program)
    if (!file) return Promise.resolve(null)
    if (!this.#versions.has(file))
      this.#versions.set(
        file,
        output(program, args).then((said) => /\d+(?:\.\d+)+[\w.+~-]*/.exec(said ?? '')?.[0] ?? null),
      )
    return this.#versions.get(file)!
  }
}
