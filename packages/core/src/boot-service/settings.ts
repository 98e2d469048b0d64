import { z } from 'zod'
import { pathSetting, portSetting } from '../kernel/config.ts'

/** The boot service of the API. Without BOOT_PORT there is none. */
export const bootServiceSettings = {
  /** Address and port of the boot service, for boot scripts and cloud-init data over HTTP. */
  BOOT_HOST: z.string().default('127.0.0.1'),
  BOOT_PORT: portSetting.optional(),
  /** Port for HTTPS, with the certificate and key in PEM files. Tokens are sent only over it. */
  BOOT_TLS_PORT: portSetting.optional(),
  BOOT_TLS_CERT_FILE: pathSetting.optional(),
  BOOT_TLS_KEY_FILE: pathSetting.optional(),
  /** Address at which machines reach the boot service. Default: BOOT_HOST and BOOT_PORT. */
  BOOT_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Address of cloud-init data and phone-home. Default: BOOT_URL, or with BOOT_TLS_PORT its host with https. */
  BOOT_CLOUD_INIT_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Name of the tenant of requests without a prefix. Default: the tenant of MUSTER_TENANT_NAME. */
  BOOT_TENANT: z.string().min(1).optional(),
  /** 1: sends tokens without TLS too. Whoever reads the traffic of the boot network can then use them. */
  BOOT_TOKENS_WITHOUT_TLS: z.enum(['0', '1'], 'must be 1 or 0').default('0'),
} as const
