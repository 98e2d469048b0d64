import { type Difference, type Fields, keys, type Objects } from '@muster/core/openchami'
import pLimit from 'p-limit'
import { DeliveryError } from '../delivery/delivery-error.ts'
import { type Connection, call } from './remote.ts'

/** Requests in progress: each service answers one in tens of milliseconds, and there is one per object. */
const CONCURRENCY = 8
/** After so many refused objects the service is taken as unusable, for example because it rejects the token. */
const MAX_REFUSED = 20

export type Services = { smd: string | null; bss: string | null }

/**
 * Writes what is missing or different. Components come first: interfaces and groups name them. An object that a service refuses does
 * not keep the others from being written.
 * @throws DeliveryError at the end with the number of refused objects and the first reason
 * @param onWritten called with the number of objects after each request
 */
export async function write(
  to: Connection,
  { smd, bss }: Services,
  wanted: readonly Difference[],
  ours: Objects,
  onWritten: (count: number) => void,
): Promise<void> {
  const of = (kind: (name: string) => string) => {
    const prefix = kind('')
    return wanted.flatMap(({ object, state, fields }) =>
      object.startsWith(prefix)
        ? [
            {
              name: object.slice(prefix.length),
              isNew: state === 'MISSING',
              changed: fields.map(({ field }) => field),
              fields: ours.get(object)!,
            },
          ]
        : [],
    )
  }
  const refused: string[] = []
  const forEach = async <T>(objects: T[], writeOne: (object: T) => Promise<unknown>): Promise<void> => {
    const limit = pLimit(CONCURRENCY)
    const one = async (object: T) => {
      if (refused.length >= MAX_REFUSED) return
      try {
        await writeOne(object)
        onWritten(1)
      } catch (error) {
        if (!(error instanceof DeliveryError) || to.signal.aborted) throw error
        refused.push(error.message)
      }
    }
    await Promise.all(objects.map((object) => limit(() => one(object))))
  }
  const components = of(keys.component)
  const Components = components
    .filter(({ isNew }) => isNew)
    .map(({ name, fields }) => ({ ID: name, Type: 'Node', State: 'Unknown', NID: fields.NID, Role: fields.Role }))
  if (smd && Components.length > 0) {
    await call(to, smd, 'POST', '/hsm/v2/State/Components', { Components })
    onWritten(Components.length)
  }
  if (smd) {
    // A POST changes neither the NID nor the role of a component that SMD has.
    const known = components.filter(({ isNew }) => !isNew)
    await forEach(known, async ({ name, fields }) => {
      if (fields.NID !== null) await call(to, smd, 'PATCH', `/hsm/v2/State/Components/${name}/NID`, { NID: fields.NID })
      await call(to, smd, 'PATCH', `/hsm/v2/State/Components/${name}/Role`, { Role: fields.Role })
    })
    await forEach(of(keys.interface), ({ name: mac, isNew, fields }) => {
      const IPAddresses = list(fields.IPAddresses).map((IPAddress) => ({ IPAddress }))
      const body = { ComponentID: fields.ComponentID, IPAddresses }
      const path = '/hsm/v2/Inventory/EthernetInterfaces'
      return isNew
        ? call(to, smd, 'POST', path, { ...body, MACAddress: mac, Description: '' })
        : call(to, smd, 'PATCH', `${path}/${mac.replaceAll(':', '')}`, body)
    })
    await forEach(of(keys.group), async ({ name: label, isNew, changed, fields }) => {
      const path = '/hsm/v2/groups'
      const group = `${path}/${encodeURIComponent(label)}`
      const { description, exclusiveGroup } = fields
      const ids = list(fields.members)
      // SMD cannot change the exclusive set of a group.
      const isReplaced = !isNew && changed.includes('exclusiveGroup')
      if (isReplaced) await call(to, smd, 'DELETE', group)
      if (isNew || isReplaced)
        await call(to, smd, 'POST', path, { label, description, ...(exclusiveGroup ? { exclusiveGroup } : {}), members: { ids } })
      else {
        await call(to, smd, 'PATCH', group, { description })
        await call(to, smd, 'PUT', `${group}/members`, { ids })
      }
    })
  }
  if (bss)
    await forEach(of(keys.boot), ({ name: host, fields }) =>
      call(to, bss, 'PUT', '/boot/v1/bootparameters', {
        ...{ hosts: [host], kernel: fields.kernel, initrd: fields.initrd ?? '', params: fields.params ?? '' },
      }),
    )
  const [first] = refused
  if (first === undefined) return
  if (refused.length === 1) throw new DeliveryError(first)
  const count = refused.length < MAX_REFUSED ? refused.length : `${MAX_REFUSED} or more`
  throw new DeliveryError(`${count} objects were refused. The first one: ${first}`)
}

const list = (value: Fields[string] | undefined): string[] => (Array.isArray(value) ? value : [])
