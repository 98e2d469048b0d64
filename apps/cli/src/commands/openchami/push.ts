import { Command, type Output } from '../../command.ts'
import { confirmAction, YES_HELP } from '../../confirm.ts'
import { count } from '../../output.ts'
import { addresses, differences, printDifferences, type Services } from './differences.ts'
import { type Difference, type Fields, keys, type Objects } from './objects.ts'
import { call } from './remote.ts'

type Options = Output & Services & { yes?: boolean }

export const openchamiPush = () =>
  addresses(new Command('push'))
    .description("write nodes, interfaces, groups and boot parameters to OpenCHAMI's SMD and BSS")
    .option('-y, --yes', YES_HELP)
    .withOutput()
    .action(async ({ yes, ...options }: Options) => {
      const { all, ours } = await differences(options)
      const wanted = all.filter(({ state }) => state !== 'EXTRA')
      printDifferences(all, options)
      if (wanted.length === 0) return
      await confirmAction(
        `Write ${count(wanted.length, 'object')} to ${[options.smd, options.bss].filter(Boolean).join(' and ')}.`,
        yes,
      )
      await write(wanted, ours, options)
      process.stderr.write(`Wrote ${count(wanted.length, 'object')}.\n`)
    })

/** Components come first: interfaces and groups name them. */
async function write(wanted: Difference[], ours: Objects, { smd, bss }: Services): Promise<void> {
  const of = (kind: (name: string) => string) => {
    const prefix = kind('')
    return wanted.flatMap(({ object, state }) =>
      object.startsWith(prefix)
        ? [{ name: object.slice(prefix.length), isNew: state === 'MISSING', fields: ours.get(object)! }]
        : [],
    )
  }
  const components = of(keys.component)
  const Components = components
    .filter(({ isNew }) => isNew)
    .map(({ name, fields }) => ({ ID: name, Type: 'Node', State: 'Unknown', NID: fields.NID, Role: fields.Role }))
  if (smd && Components.length > 0) await call(smd, 'POST', '/hsm/v2/State/Components', { Components })
  if (smd)
    // A POST changes neither the NID nor the role of a component that SMD has.
    for (const { name, isNew, fields } of components) {
      if (isNew) continue
      if (fields.NID !== null) await call(smd, 'PATCH', `/hsm/v2/State/Components/${name}/NID`, { NID: fields.NID })
      await call(smd, 'PATCH', `/hsm/v2/State/Components/${name}/Role`, { Role: fields.Role })
    }
  if (smd)
    for (const { name: mac, isNew, fields } of of(keys.interface)) {
      const IPAddresses = list(fields.IPAddresses).map((IPAddress) => ({ IPAddress }))
      const body = { ComponentID: fields.ComponentID, IPAddresses }
      const path = '/hsm/v2/Inventory/EthernetInterfaces'
      if (isNew) await call(smd, 'POST', path, { ...body, MACAddress: mac, Description: '' })
      else await call(smd, 'PATCH', `${path}/${mac.replaceAll(':', '')}`, body)
    }
  if (smd)
    for (const { name: label, isNew, fields } of of(keys.group)) {
      const path = '/hsm/v2/groups'
      const { description, exclusiveGroup } = fields
      const ids = list(fields.members)
      if (isNew)
        await call(smd, 'POST', path, { label, description, ...(exclusiveGroup ? { exclusiveGroup } : {}), members: { ids } })
      else {
        await call(smd, 'PATCH', `${path}/${label}`, { description })
        await call(smd, 'PUT', `${path}/${label}/members`, { ids })
      }
    }
  if (bss)
    for (const { name: host, fields } of of(keys.boot))
      await call(bss, 'PUT', '/boot/v1/bootparameters', {
        ...{ hosts: [host], kernel: fields.kernel, initrd: fields.initrd ?? '', params: fields.params ?? '' },
      })
}

const list = (value: Fields[string] | undefined): string[] => (Array.isArray(value) ? value : [])
