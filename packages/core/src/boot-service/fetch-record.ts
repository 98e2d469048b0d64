import type { BootFetchKind } from './tables.ts'

/** What a node fetches. */
export type FetchRecord = {
  nodeId: string
  nodeName: string
  kind: BootFetchKind
  /** SHA-256 of the content without a token. */
  hash: string
  profile: string | null
  profileVersion: number | null
  /** Parents and additions of which the content is merged, too: `site v2`. */
  mergedWith?: string[]
  address: string | null
  /** The MAC with which a boot script was requested. */
  mac?: string | null
  /** The script asked for this request after a failure. */
  isRetry?: boolean
  /** The content has a place for a token. `reason`: why this connection must not carry one. */
  token?: { reason: string | null }
}

/** What was recorded for it. `refusal`: why it gets no token. */
export type RecordedFetch = { attemptId: string; token: string | null; refusal: string | null }
