import { readFileSync } from 'node:fs'
import type { BootUrls, bootServiceSettings } from '@muster/core/boot-service'
import type { Config } from '@muster/core/config'

type Settings = Partial<Config<typeof bootServiceSettings>>

const DEFAULT_HOST = '127.0.0.1'

/** Where the boot service listens, and what it tells machines. */
export type BootConfig = {
  host: string
  port: number
  tls: { port: number; cert: string; key: string } | null
  /** Name of the tenant of requests without a prefix. */
  tenant: string
  sendsTokensWithoutTls: boolean
}

/** Addresses for machines of a tenant. */
export type BootUrlsOf = (tenant: string) => BootUrls

/**
 * @returns null when BOOT_PORT is not set
 * @throws Error when the TLS settings are incomplete or a file cannot be read
 */
export function bootConfigOf(settings: Settings, firstTenant: string): BootConfig | null {
  const { BOOT_HOST = DEFAULT_HOST, BOOT_PORT, BOOT_TLS_PORT, BOOT_TLS_CERT_FILE, BOOT_TLS_KEY_FILE, BOOT_TENANT } = settings
  if (BOOT_PORT === undefined) return null
  const read = (name: string, file: string | undefined) => {
    if (!file) throw new Error(`BOOT_TLS_PORT is set, so ${name} must name a PEM file.`)
    try {
      return readFileSync(file, 'utf8')
    } catch (error) {
      throw new Error(`${name} names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
    }
  }
  const tls =
    BOOT_TLS_PORT === undefined
      ? null
      : {
          port: BOOT_TLS_PORT,
          cert: read('BOOT_TLS_CERT_FILE', BOOT_TLS_CERT_FILE),
          key: read('BOOT_TLS_KEY_FILE', BOOT_TLS_KEY_FILE),
        }
  const sendsTokensWithoutTls = settings.BOOT_TOKENS_WITHOUT_TLS === '1'
  return { host: BOOT_HOST, port: BOOT_PORT, tls, tenant: BOOT_TENANT ?? firstTenant, sendsTokensWithoutTls }
}

/** The tenant of BOOT_TENANT has no prefix; the addresses of the others name them. */
export function bootUrlsOf(settings: Settings, firstTenant: string): BootUrlsOf {
  const { BOOT_HOST = DEFAULT_HOST, BOOT_PORT = 80, BOOT_TLS_PORT, BOOT_TENANT = firstTenant } = settings
  const scripts = settings.BOOT_URL ?? `http://${BOOT_HOST.includes(':') ? `[${BOOT_HOST}]` : BOOT_HOST}:${BOOT_PORT}`
  const overTls = BOOT_TLS_PORT === undefined ? scripts : `https://${new URL(scripts).hostname}:${BOOT_TLS_PORT}`
  const cloudInit = settings.BOOT_CLOUD_INIT_URL ?? overTls
  return (tenant) => {
    const path = `${tenant === BOOT_TENANT ? '' : `/tenants/${encodeURIComponent(tenant)}`}/boot/v1`
    return { scripts: `${scripts.replace(/\/+$/, '')}${path}`, cloudInit: `${cloudInit.replace(/\/+$/, '')}${path}` }
  }
}
