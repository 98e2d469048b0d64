import type { z } from 'zod'
import type { InputIssue } from '../../kernel/errors.ts'
import type { NewNode } from '../add-node.ts'
import type { ComputeNode } from '../tables.ts'

/**
 * VALID: can be added. ADDED: added by this import. EXISTS: the node exists, or an earlier row is equal. INVALID: its issues have the
 * reasons.
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
  /** Reasons of INVALID or EXISTS; notes about ignored parts in other rows. */
  issues: InputIssue[]
  /** The added or existing node. */
  node: ComputeNode | null
}
export type NodeImportReport = { rows: NodeImportRow[]; addedCount: number; failedCount: number }

export type PlannedRow = NodeImportRow & { values: z.output<typeof NewNode> | null; groups: string[] }
