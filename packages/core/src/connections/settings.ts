import { z } from 'zod'
import { secondsSetting } from '../kernel/config.ts'

export const connectionSettings = {
  /** Concurrent connection tests and discoveries per worker. */
  SSH_CONCURRENCY: z.coerce.number().int().min(1).max(1024).default(32),
  /** Seconds that one SSH stage may take. */
  SSH_TIMEOUT: secondsSetting(10),
} as const
