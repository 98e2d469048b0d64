import { z } from 'zod'

export const alertSettings = {
  /** 1: alerts may also be sent to loopback and link-local addresses of the worker's machine. */
  ALERT_LOCAL_TARGETS: z.enum(['0', '1'], 'must be 1 or 0').default('0'),
} as const
