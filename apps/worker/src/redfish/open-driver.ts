import type { Ctx } from '@muster/core/context'
import { type BmcLogin, openBmcLogin, readCredentialVersion } from '@muster/core/credentials'
import { DomainError } from '@muster/core/errors'
import type { NodeBmc } from '@muster/core/nodes'
import { retryTransient } from '@muster/core/retry-transient'
import { createReadSecret } from '../secrets/read-secret.ts'
import type { BmcDriver } from './driver.ts'
import { createIpmiDriver } from './ipmi-driver.ts'
import { createRedfishClient, RedfishError, type RedfishLimits } from './redfish-client.ts'
import { createRedfishDriver } from './redfish-driver.ts'

/** A decrypted login is used again this long, so that readings of thousands of BMCs do not decrypt it each time. */
const KEEP_MS = 10 * 60_000

export type BmcLogins = { open(ctx: Ctx, credentialId: string, limits: RedfishLimits): Promise<BmcLogin> }

/** Decrypts credentials of the kind BMC, and again after each change of them. */
export function createBmcLogins(): BmcLogins {
  const known = new Map<string, { version: string | null; until: number; login: Promise<BmcLogin> }>()
  return {
    async open(ctx, credentialId, { localTargets }) {
      const version = await retryTransient(() => readCredentialVersion(ctx, credentialId))
      const cached = known.get(credentialId)
      if (cached && cached.version === version && cached.until > Date.now()) return cached.login
      for (const [id, { until }] of known) if (until <= Date.now()) known.delete(id)
      const login = retryTransient(() => openBmcLogin(ctx, credentialId, createReadSecret(localTargets)))
      known.set(credentialId, { version, until: Date.now() + KEEP_MS, login })
      login.catch(() => known.delete(credentialId))
      return login
    },
  }
}

/** Opens the BMC of a node; its login is checked at the first use. @throws RedfishError */
export async function openDriver(ctx: Ctx, bmc: NodeBmc, logins: BmcLogins, limits: RedfishLimits): Promise<BmcDriver> {
  const login = await openLogin(ctx, bmc, logins, limits)
  if (bmc.protocol === 'IPMI') return createIpmiDriver(bmc, login, limits)
  return createRedfishDriver(createRedfishClient(bmc, login, limits), bmc.systemPath)
}

async function openLogin(ctx: Ctx, bmc: NodeBmc, logins: BmcLogins, limits: RedfishLimits): Promise<BmcLogin> {
  try {
    const login = await logins.open(ctx, bmc.credentialId, limits)
    login.assertHost(bmc.address)
    return login
  } catch (error) {
    if (error instanceof DomainError) throw new RedfishError('TARGET', error.message)
    throw error
  }
}
