export { findNodes } from './find-nodes.ts'
export { expandHostlist, foldHostlist, HOSTLIST_MAX, splitHostlist } from './hostlist.ts'
export { type NodeColumns, nodeQueryCondition, parseNodeQuery } from './query/index.ts'
export { limitCondition, parseLimit, selectNodes } from './select-nodes.ts'
