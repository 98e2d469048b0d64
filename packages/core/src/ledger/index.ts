export { ledgerAudit, ledgerSinkAudit } from './audit-actions.ts'
export { ledgerPermissions } from './permissions.ts'
export { type LedgerProof, proveLedgerConsistency, proveLedgerEntry } from './prove-entry.ts'
export { recordNodeChanges } from './record-node-changes.ts'
export { readLedgerSettings } from './settings.ts'
export { type ClaimedLedgerSink, claimLedgerSink } from './sink/claim-ledger-sink.ts'
export { finishLedgerDelivery, type Receipt } from './sink/finish-ledger-delivery.ts'
export { removeLedgerSink } from './sink/remove-ledger-sink.ts'
export { setLedgerSink } from './sink/set-ledger-sink.ts'
export { type SignedTransaction, storeLedgerTransaction } from './sink/store-transaction.ts'
export {
  type LedgerCheckpoint,
  type LedgerEntry,
  type LedgerNode,
  type LedgerReceipt,
  type LedgerSettings,
  type LedgerSink,
  type LedgerSinkSecret,
  ledgerCheckpoints,
  ledgerEntries,
  ledgerNodes,
  ledgerReceipts,
  ledgerSinks,
} from './tables.ts'
export { newestCheckpoint } from './tree.ts'
export { updateLedgerSettings } from './update-ledger-settings.ts'
export { ledgerVerifierKeys } from './verifier-keys.ts'
