import { z } from 'zod'

/** The interfaces of OpenCHAMI's SMD and BSS. */
export const openchamiSettings = {
  /** 1: the API serves the inventory at /hsm/v2 and boot parameters at /boot/v1, for OpenCHAMI's tools. */
  OPENCHAMI_API: z.enum(['0', '1'], 'must be 1 or 0').default('0'),
  /** Name of a tenant whose components, interfaces and groups everybody who reaches the API may read there. Default: reading needs a token. */
  OPENCHAMI_PUBLIC_TENANT: z.string().min(1).optional(),
} as const
