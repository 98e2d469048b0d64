import { z } from 'zod'

export const auditSettings = {
  /** Days after which workers delete entries of the installation; owners set the retention of each tenant. */
  INSTALLATION_AUDIT_RETENTION_DAYS: z.coerce.number().int().min(30).max(3650).default(365),
} as const
