import { waitUntil } from '../commands.ts'
import { execInNode } from '../namespaces/exec.ts'
import type { LabState } from '../registry.ts'
import type { LabNode, LabSlurm } from '../types.ts'

/** A handle on the lab's cluster. */
export function openSlurm(state: LabState, nodes: LabNode[]): LabSlurm | null {
  const { slurm } = state
  if (!slurm) return null
  const named = (names: string[]) => names.map((name) => nodes.find((node) => node.name === name)!)
  const path = slurm.prefix ? `${slurm.prefix}/bin:${slurm.prefix}/sbin:` : ''
  const run: LabSlurm['run'] = (argv, { user = 'root', on = slurm.controllers[0]!, input } = {}) => {
    const environment = ['env', `PATH=${path}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`, 'LC_ALL=C']
    const identity = user === 'root' ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups']
    return execInNode(state, on, [...identity, ...environment, ...argv], input)
  }
  return {
    controllers: named(slurm.controllers),
    compute: named(slurm.compute),
    programFolder: slurm.prefix && `${slurm.prefix}/bin`,
    run,
    async submit(script, options = [], user = 'ops') {
      const argv = ['sbatch', '--parsable', '--chdir=/tmp', '--output=/dev/null', ...options]
      const { code, stdout, stderr } = await run(argv, { user, input: `#!/bin/sh\n${script}\n` })
      if (code !== 0) throw new Error(`sbatch failed: ${stderr.trim()}`)
      return stdout.trim().split(';')[0]!
    },
    async ready() {
      const names = slurm.compute.join(',')
      await waitUntil(
        'the Slurm cluster to be idle',
        async () => {
          const { code, stdout } = await run(['sinfo', '--noheader', '--Node', '--format=%T', `--nodes=${names}`])
          const states = stdout.trim().split('\n')
          return code === 0 && states.every((word) => /^(idle|mixed|allocated)$/.test(word))
        },
        60_000,
      )
    },
  }
}
