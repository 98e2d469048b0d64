import { checkedWord } from './words.ts'

/** UP; DOWN: accepts jobs and starts none; DRAIN: starts jobs and accepts none; INACTIVE: neither. */
export const PARTITION_STATES = ['UP', 'DOWN', 'DRAIN', 'INACTIVE'] as const
export type PartitionState = (typeof PARTITION_STATES)[number]

export const setPartitionState = (name: string, state: PartitionState): string[] => [
  'scontrol',
  'update',
  `partitionname=${checkedWord('partition', name)}`,
  `state=${state}`,
]
