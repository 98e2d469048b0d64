export { nodeQueryCondition } from './condition.ts'
export type { NodeColumns } from './fields.ts'
export { parseNodeQuery } from './parse.ts'
