import type { ComputeNode } from '@muster/core/nodes'
import { builder } from '../../builder.ts'

type Row = Pick<ComputeNode, 'osId' | 'osName' | 'osVersion' | 'cpuModel' | 'cpuSockets' | 'cpuCores' | 'cpuThreads'>

export const OS_COLUMNS = { osId: true, osName: true, osVersion: true } as const

export const OperatingSystem = builder.objectRef<Pick<Row, keyof typeof OS_COLUMNS>>('OperatingSystem').implement({
  description: 'Operating system of a node.',
  fields: (t) => ({
    distribution: t.exposeString('osId', { nullable: true, description: '`ID` in os-release, for example `debian` or `rocky`.' }),
    name: t.exposeString('osName', { nullable: true, description: 'Display name with the version.' }),
    version: t.exposeString('osVersion', { nullable: true, description: '`VERSION_ID` in os-release.' }),
  }),
})

export const CPU_COLUMNS = { cpuModel: true, cpuSockets: true, cpuCores: true, cpuThreads: true } as const

export const Cpu = builder.objectRef<Pick<Row, keyof typeof CPU_COLUMNS>>('Cpu').implement({
  description: 'Processors of a node.',
  fields: (t) => ({
    model: t.exposeString('cpuModel', { nullable: true, description: 'Model name.' }),
    sockets: t.exposeInt('cpuSockets', { nullable: true, description: 'Number of sockets.' }),
    cores: t.exposeInt('cpuCores', { nullable: true, description: 'Number of cores of all sockets.' }),
    threads: t.exposeInt('cpuThreads', { nullable: true, description: 'Number of hardware threads of all sockets.' }),
  }),
})
