import type { BmcLogin } from '@muster/core/credentials'
import { DomainError } from '@muster/core/errors'
import type { ProbedBmc } from '@muster/core/power'
import { plainText } from './plain-text.ts'
import { readInventory } from './read-details.ts'
import { createRedfishClient, RedfishError, type RedfishLimits } from './redfish-client.ts'
import { powerStateOf, systemPaths } from './redfish-driver.ts'

const MAX_SYSTEMS = 16

/**
 * Looks for a Redfish service at an address. The first request has no login, and accepts any certificate, to learn its fingerprint. The
 * login is sent only when the certificate is trusted.
 * @returns null when there is none
 */
export async function probeBmc(
  address: string,
  { port, caCertificate }: { port: number; caCertificate: string | null },
  login: BmcLogin | null,
  limits: RedfishLimits,
): Promise<ProbedBmc | null> {
  const trusted = { address, port, fingerprint: null, caCertificate }
  const first = await readRoot(trusted, limits)
  if (first === null) return null
  const { fingerprint, product, isTrusted } = first
  const none = { address, fingerprint, product, systems: [] }
  if (!login) return { ...none, message: null }
  if (!isTrusted)
    return {
      ...none,
      message: 'Its certificate is not trusted, so the credential was not sent. Pin the fingerprint after comparing it.',
    }
  const client = createRedfishClient(trusted, login, limits)
  try {
    login.assertHost(address)
    const systems: ProbedBmc['systems'] = []
    for (const path of (await systemPaths(client)).slice(0, MAX_SYSTEMS)) {
      const system = await client.get(path)
      systems.push({ path, inventory: await readInventory(client, system), state: powerStateOf(system) })
    }
    return { ...none, systems, message: null }
  } catch (error) {
    if (!(error instanceof RedfishError) && !(error instanceof DomainError)) throw error
    return { ...none, message: error.message }
  } finally {
    await client.close()
  }
}

type Root = { fingerprint: string | null; product: string | null; isTrusted: boolean }

/** Reads the service root: with the trusted authorities, else with the certificate that the service has presented. */
async function readRoot(server: Parameters<typeof createRedfishClient>[0], limits: RedfishLimits): Promise<Root | null> {
  const read = async (fingerprint: string | null) => {
    const client = createRedfishClient({ ...server, ...(fingerprint ? { fingerprint, caCertificate: null } : {}) }, null, limits)
    try {
      const { body } = await client.root()
      const product = [body.Vendor, body.Product].map((text) => plainText(text, 100)).filter(Boolean)
      return 'RedfishVersion' in body ? product.join(' ') : null
    } finally {
      await client.close()
    }
  }
  try {
    const product = await read(null)
    return product === null ? null : { fingerprint: null, product: product || null, isTrusted: true }
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error
    const { kind, fingerprint } = error
    if (kind !== 'CERTIFICATE' || fingerprint === null) return null
    const product = await read(fingerprint).catch((again: unknown) => {
      if (again instanceof RedfishError) return null
      throw again
    })
    return product === null ? null : { fingerprint, product: product || null, isTrusted: false }
  }
}
