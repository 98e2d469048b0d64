import type { SlurmOperationKind } from '@muster/core/slurm-operations'
import type { Workflow } from './operation.ts'
import { CONFIGURE } from './steps/configure.ts'
import { CREATE } from './steps/create.ts'
import { POWER_SAVING } from './steps/power-saving.ts'
import { SCALE_IN } from './steps/scale-in.ts'
import { SCALE_OUT } from './steps/scale-out.ts'

/** The steps of each kind of operation. */
export const WORKFLOWS: Record<SlurmOperationKind, Workflow> = { CREATE, SCALE_OUT, SCALE_IN, CONFIGURE, POWER_SAVING }
