export { slurmCheckMessages } from './checks.ts'
export { slurmOperationMessages } from './operations.ts'
export { slurmMessages } from './reasons.ts'
