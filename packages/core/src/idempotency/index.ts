export { IdempotencyKey, idempotent, type ResultStore } from './idempotent.ts'
export { pruneIdempotencyKeys } from './prune-idempotency-keys.ts'
export { oneRow, rows, shownOnce } from './results.ts'
export { idempotencyKeys } from './tables.ts'
