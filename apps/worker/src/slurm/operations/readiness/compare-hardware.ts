import type { SlurmNodeCheck } from '@muster/core/slurm-operations'
import { type ConfigNode, configuredMemory } from '@muster/slurm/config'

/**
 * Compares the line of `slurmd -C` with the line of the node in slurm.conf. Slurm does not use a node that has less, unless
 * SlurmdParameters contains config_overrides.
 * @param shortage state when the node has less
 */
export function compareHardware(
  line: string,
  { sockets, coresPerSocket, threadsPerCore, realMemoryMiB }: ConfigNode,
  shortage: SlurmNodeCheck['state'],
): SlurmNodeCheck {
  const number = (key: string) => Number(new RegExp(`\\b${key}=(\\d+)`).exec(line)?.[1] ?? Number.NaN)
  const [cpus, memory] = [number('CPUs'), number('RealMemory')]
  const [wantedCpus, wantedMemory] = [sockets * coresPerSocket * threadsPerCore, configuredMemory(realMemoryMiB)]
  const less = [
    ...(cpus < wantedCpus ? [`${cpus} CPUs, slurm.conf ${wantedCpus}`] : []),
    ...(memory < wantedMemory ? [`${memory} MiB of memory, slurm.conf ${wantedMemory}`] : []),
  ]
  const name = 'hardware'
  if (less.length > 0)
    return {
      name,
      state: shortage,
      message: `slurmd -C reports ${less.join(', and ')}; run a discovery of the node, then try again`,
    }
  if (Number.isNaN(cpus) || Number.isNaN(memory))
    return { name, state: 'WARNING', message: 'slurmd -C reports no CPUs or memory; run it on the node' }
  return { name, state: 'OK', message: `${cpus} CPUs and ${memory} MiB, as slurmd -C reports` }
}
