import type { z } from 'zod'
import type { InputIssue } from '../../kernel/errors.ts'
import type { NewNode } from '../add-node.ts'
import type { ComputeNode } from '../tables.ts'

/**
 * VALID: can be added. ADDED: it was, by this import. EXISTS: there is such a node already, or an earlier row is the same.
 * INVALID: its issues say why.
 */
export type NodeImportState = 'VALID' | 'ADDED' | 'EXISTS' | 'INVALID'
export type NodeImportRow = {
  /** Line of the text, from 1. */
  row: number
  source: string
  name: string | null
  host: string | null
  port: number | null
  state: NodeImportState
  /** Why it is INVALID or EXISTS; on other rows what was left out. */
  issues: InputIssue[]
  /** The node added, or the one that was there. */
  node: ComputeNode | null
}
export type NodeImportReport = { rows: NodeImportRow[]; addedCount: number; failedCount: number }

export type PlannedRow = NodeImportRow & { values: z.output<typeof NewNode> | null; groups: string[] }
