export {
  type Checkpoint,
  type CheckpointKey,
  checkpointText,
  openCheckpoint,
  signCheckpoint,
  verifierKey,
} from './checkpoint.ts'
export {
  consistencyRanges,
  coverRange,
  createTree,
  EMPTY_ROOT,
  foldRange,
  inclusionRanges,
  leafHash,
  nodeHash,
  type Range,
  type SubtreeRef,
  verifyConsistency,
  verifyInclusion,
} from './merkle.ts'
export { type NodeRecord, RECORD_HEALTHS, RECORD_STATES, type RecordHealth, type RecordState } from './node-record.ts'
