import { checkedWord } from './words.ts'

/** Prints the names of the clusters in the accounting database, one a line. */
export const listAccountingClusters = (): string[] => [
  'sacctmgr',
  '--noheader',
  '--parsable2',
  'list',
  'cluster',
  'format=Cluster',
]

/** Adds a cluster to the accounting database. */
export const addAccountingCluster = (name: string): string[] => [
  'sacctmgr',
  '--immediate',
  'add',
  'cluster',
  checkedWord('cluster', name),
]
