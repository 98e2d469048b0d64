import { InvalidInput, NotFound, parseInput } from '@muster/core/errors'
import { parseMac } from '@muster/core/nodes'
import { type BootParameters, putBootParameters, readBootParameters, removeBootParameters } from '@muster/core/openchami'
import { z } from 'zod'
import type { Answer, OpenchamiRequest } from './request.ts'

/** The API of BSS: https://github.com/OpenCHAMI/bss, api/swagger.yaml. */
export const FILTERS = ['name', 'mac', 'nid']

const PHONE_HOME = ['pub_key_dsa', 'pub_key_rsa', 'pub_key_ecdsa', 'pub_key_ed25519', 'instance_id', 'hostname', 'fqdn']
const Mapping = z.record(z.string(), z.unknown())
const Names = { hosts: z.array(z.string()).nullish(), macs: z.array(z.string()).nullish(), nids: z.array(z.number()).nullish() }
const Texts = { kernel: z.string().nullish(), initrd: z.string().nullish(), params: z.string().nullish() }
const Body = z.object({
  ...Names,
  ...Texts,
  'cloud-init': z
    .object({ 'meta-data': Mapping.nullish(), 'user-data': Mapping.nullish(), 'phone-home': Mapping.nullish() })
    .nullish(),
})

const toNames = ({ hosts, macs, nids }: Pick<z.output<typeof Body>, keyof typeof Names>) => ({
  hosts: hosts ?? [],
  macs: (macs ?? []).map((mac) => parseMac(mac) ?? mac),
  nids: nids ?? [],
})
const isFilled = (value: unknown) => value !== null && value !== undefined && value !== ''

/** The user-data; null when it is empty. Clients of BSS send objects with empty fields for missing data. */
function userDataOf(cloudInit: z.output<typeof Body>['cloud-init']) {
  const reject = (field: string, message: string): never => {
    throw new InvalidInput([{ path: `cloud-init.${field}`, message }])
  }
  if (Object.keys(cloudInit?.['meta-data'] ?? {}).length > 0)
    reject('meta-data', 'must be empty: Muster renders it from the inventory. Use user-data')
  if (Object.values(cloudInit?.['phone-home'] ?? {}).some(isFilled))
    reject('phone-home', 'must be empty: only nodes report it, with the token of their boot')
  const userData = cloudInit?.['user-data'] ?? {}
  return Object.keys(userData).length > 0 ? userData : null
}

const toEntry = ({ userData, hosts, macs, nids, ...texts }: BootParameters) => ({
  ...(hosts.length > 0 ? { hosts } : {}),
  ...(macs.length > 0 ? { macs } : {}),
  ...(nids.length > 0 ? { nids } : {}),
  ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')),
  'cloud-init': {
    'meta-data': null,
    'user-data': userData,
    'phone-home': Object.fromEntries(PHONE_HOME.map((key) => [key, ''])),
  },
})

export async function get({ ctx, query, body }: OpenchamiRequest): Promise<Answer> {
  const filter = filterOf(query, body)
  if (!filter) return { status: 200, body: (await readBootParameters(ctx)).map(toEntry) }
  const { kernel, initrd, ...names } = filter
  const isNamed = names.hosts.length + names.macs.length + names.nids.length > 0
  const entries = (await readBootParameters(ctx, isNamed ? names : undefined)).filter(
    (entry) => (!kernel || entry.kernel === kernel) && (!initrd || entry.initrd === initrd),
  )
  if (entries.length === 0) throw new NotFound('There are no boot parameters of these hosts, MACs and NIDs.')
  return { status: 200, body: entries.map(toEntry) }
}

/** Query parameters with comma-separated values, and the body of BSS's own clients. Null: everything. */
function filterOf(query: URLSearchParams, body: unknown) {
  if (typeof body === 'string' && body.trim() !== '')
    throw new InvalidInput([{ path: '', message: 'The body must be a JSON object that is not empty.' }])
  const given = parseInput(Body, typeof body === 'object' ? body : {})
  const of = (name: string) => query.getAll(name).flatMap((text) => text.split(',').filter(Boolean))
  const nids = of('nid').map((nid) => {
    if (!/^\d{1,9}$/.test(nid)) throw new InvalidInput([{ path: 'nid', message: `${nid.slice(0, 40)} is not a NID` }])
    return Number(nid)
  })
  const names = toNames(given)
  const filter = {
    hosts: [...names.hosts, ...of('name')],
    macs: [...names.macs, ...of('mac').map((mac) => parseMac(mac) ?? mac)],
    nids: [...names.nids, ...nids],
    kernel: given.kernel,
    initrd: given.initrd,
  }
  return Object.values(filter).some((value) => (Array.isArray(value) ? value.length > 0 : value)) ? filter : null
}

const write =
  (mode: Parameters<typeof putBootParameters>[1]['mode'], status: number) =>
  async ({ ctx, body, localTargets }: OpenchamiRequest): Promise<Answer> => {
    const { kernel, initrd, params, 'cloud-init': cloudInit, ...names } = parseInput(Body, body)
    const values = { kernel, initrd, params, userData: userDataOf(cloudInit) }
    await putBootParameters(ctx, { mode, ...toNames(names), ...values }, localTargets)
    return { status }
  }
export const post = write('create', 201)
export const put = write('replace', 200)
export const patch = write('update', 200)

export async function remove({ ctx, body }: OpenchamiRequest): Promise<Answer> {
  const { kernel, initrd, params, ...names } = parseInput(Body, body)
  await removeBootParameters(ctx, { ...toNames(names), kernel, initrd, params })
  return { status: 200 }
}

export const status = (): Answer => ({ status: 200, body: { 'bss-status': 'running' } })
