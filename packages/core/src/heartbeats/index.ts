export { acceptHeartbeats, type HeartbeatVerdict, type SignedHeartbeat } from './accept-heartbeats.ts'
export { heartbeatPermissions } from './permissions.ts'
export { recordIngestLiveness } from './record-ingest-liveness.ts'
export { type NodeRejections, recordRejections } from './record-rejections.ts'
export { rollUpHeartbeatHistory } from './roll-up-heartbeat-history.ts'
export {
  type AgentHeartbeat,
  type AgentHeartbeatBucket,
  agentHeartbeatHistory,
  agentHeartbeats,
  agentReports,
  ingestLiveness,
  type ReportedDrain,
} from './tables.ts'
