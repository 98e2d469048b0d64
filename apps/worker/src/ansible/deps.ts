import type { ArtifactStore } from '@muster/core/artifacts'
import type { Listener } from '@muster/core/events'
import type { AllSettings } from '@muster/core/registry'
import type { Isolation } from './isolation/isolation.ts'
import type { RepositoryLimits } from './source/confine.ts'

export type ExecutorConfig = Pick<
  AllSettings,
  | 'ANSIBLE_WORK_DIR'
  | 'ANSIBLE_PLAYBOOK_REPO_PATH'
  | 'ANSIBLE_PLAYBOOK'
  | 'ARTIFACT_MAX_SIZE'
  | 'JOB_CANCEL_GRACE_PERIOD'
  | 'SSH_TIMEOUT'
  | 'LOCAL_TARGETS'
>
export type Deps = {
  config: ExecutorConfig
  listener: Listener
  stopping: AbortSignal
  isolation: Isolation
  /** Stores logs and files of runs. */
  store: ArtifactStore
  /** How long to retry while the store is unavailable; default 120 s. */
  storeRetryForMs?: number | undefined
  /** Allowed git protocols; default https and ssh. */
  gitProtocols?: string[]
  /** Limits of repositories; default 500 MiB and 20,000 files. */
  gitLimits?: RepositoryLimits
}
