import type { SlurmOperationKind } from '@muster/core/slurm-operations'
import type { Workflow } from './operation.ts'
import { CONFIGURE } from './steps/configure.ts'

const NONE: Workflow = { steps: [], undo: [] }

/** The steps of each kind of operation. */
export const WORKFLOWS: Record<SlurmOperationKind, Workflow> = {
  CREATE: NONE,
  SCALE_OUT: NONE,
  SCALE_IN: NONE,
  CONFIGURE,
}
