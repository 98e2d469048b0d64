import { defineDomain } from '../kernel/domain.ts'
import { slurmScalePermissions } from './permissions.ts'

export const slurmScalingDomain = defineDomain({ name: 'slurm-scaling', permissions: { slurmScalePermissions } })
