import type { SlurmOperationNode } from '@muster/core/slurm-operations'
import { expect, it } from 'vitest'
import type { Session } from '../../../ssh/exec.ts'
import { type OperationContext, OperationFailure } from '../operation.ts'
import { checkHardware } from './check-nodes.ts'

const line = (cpus: number, memory: number) =>
  `hardware NodeName=x CPUs=${cpus} Boards=1 RealMemory=${memory}\nUpTime=1-00:00:00\n`
const CONFIG = { sockets: 1, coresPerSocket: 4, threadsPerCore: 2, realMemoryMiB: 100_000, gres: [], features: [] }
const OK = { name: 'os', state: 'OK', message: 'debian 12' } as const

/** Nodes on which slurmd -C prints this; null: they do not answer. */
function createFixture(printed: Record<string, string | null>) {
  const nodes = Object.keys(printed).map(
    (name) =>
      ({ name, nodeId: name, checks: [OK], isFailed: false, phase: 'INSTALLED', message: null }) as unknown as SlurmOperationNode,
  )
  const op = {
    cluster: { install: { prefix: null } },
    nodes,
    signal: new AbortController().signal,
    async onNode(nodeId: string, work: (controller: { session: Session }) => Promise<unknown>) {
      const text = printed[nodeId]
      if (text === null) throw new OperationFailure(`${nodeId} is unreachable.`)
      return work({ session: { exec: async () => ({ stdout: Buffer.from(text!) }) } as unknown as Session })
    },
    async updateNodes(changes: { name: string }[]) {
      for (const { name, ...change } of changes) Object.assign(nodes.find((node) => node.name === name)!, change)
    },
  } as unknown as OperationContext
  const check = (slurmConf: string) =>
    checkHardware(
      op,
      nodes.map(({ name }) => ({ ...CONFIG, name, address: name, nodeId: name })),
      slurmConf,
    )
  const found = () => nodes.map(({ isFailed, checks, message }) => [isFailed, checks.map(({ state }) => state).join(), message])
  return { check, found, nodes }
}

it('fails nodes that have less than slurm.conf will say, and keeps the others', async () => {
  const { check, found } = createFixture({
    enough: line(8, 98_000),
    cpus: line(4, 98_000),
    memory: line(8, 97_999),
    silent: '',
    away: null,
  })
  await check('ClusterName=a\n')
  const next = 'run a discovery of the node, then try again'
  expect(found()).toEqual([
    [false, 'OK,OK', null],
    [true, 'OK,FAILED', `hardware: slurmd -C reports 4 CPUs, slurm.conf 8; ${next}`],
    [true, 'OK,FAILED', `hardware: slurmd -C reports 97999 MiB of memory, slurm.conf 98000; ${next}`],
    [false, 'OK,WARNING', null],
    [true, 'OK,FAILED', 'hardware: away is unreachable.'],
  ])
})

it('only warns where slurm.conf overrides the hardware, and replaces the finding when the step is repeated', async () => {
  const { check, found } = createFixture({ small: line(2, 1000) })
  await check('SlurmdParameters=l3cache_as_socket,config_overrides\n')
  await check('SlurmdParameters=config_overrides\n')
  expect(found()).toEqual([[false, 'OK,WARNING', null]])
})

it('ends when no node is left', async () => {
  const { check } = createFixture({ small: line(2, 1000) })
  await expect(check('#SlurmdParameters=config_overrides\n')).rejects.toThrow(
    /^No node is left. small: hardware: slurmd -C reports 2 CPUs/,
  )
})
