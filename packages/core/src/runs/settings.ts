import { z } from 'zod'
import { secondsSetting } from '../kernel/config.ts'

export const jobRunSettings = {
  /** Maximum number of concurrent runs per worker. */
  JOB_RUNNER_CONCURRENCY: z.coerce.number().int().min(1).max(256).default(4),
  /** Seconds between asking a run to stop and killing it. */
  JOB_CANCEL_GRACE_PERIOD: secondsSetting(30),
  /** Maximum total size of one run's files, in MiB. */
  ARTIFACT_MAX_SIZE: z.coerce.number().int().min(1).max(1_048_576).default(1024),
} as const
