import type { BmcInventory, BootDevice, PowerAction, PowerState } from '@muster/core/power'
import type { BmcDriver, PowerReading } from './driver.ts'
import { plainText, textOrNull } from './plain-text.ts'
import { readEvents, readInventory, readSensors } from './read-details.ts'
import { linkOf, listOf, objectOf, type RedfishClient, RedfishError, type Resource } from './redfish-client.ts'

const STATES: Record<string, PowerState> = { On: 'ON', Off: 'OFF', PoweringOn: 'POWERING_ON', PoweringOff: 'POWERING_OFF' }

/** Values of ResetType for an action, the best first. */
const RESETS: Record<Exclude<PowerAction, 'BOOT_ONCE'>, string[]> = {
  ON: ['On', 'ForceOn'],
  OFF: ['GracefulShutdown'],
  FORCE_OFF: ['ForceOff'],
  RESTART: ['GracefulRestart'],
  CYCLE: ['PowerCycle', 'ForceRestart'],
  NMI: ['Nmi'],
}
const BOOT_DEVICES: Record<BootDevice, string> = {
  ...{ PXE: 'Pxe', HTTP: 'UefiHttp', DISK: 'Hdd', BIOS_SETUP: 'BiosSetup', NONE: 'None' },
}

/** Paths of the systems of a BMC. */
export async function systemPaths(client: RedfishClient): Promise<string[]> {
  const systems = linkOf((await client.root()).body.Systems)
  if (!systems) throw new RedfishError('INVALID', 'The BMC lists no systems: it is no BMC of a server.')
  const { body } = await client.get(systems)
  return listOf(body.Members).flatMap((member) => linkOf(member) ?? [])
}

/** The state of a system as its resource shows it. */
export const powerStateOf = ({ body }: Resource): PowerState => STATES[String(body.PowerState)] ?? 'UNKNOWN'

/** Controls one system of a Redfish service. @param path the system; empty: the only one */
export function createRedfishDriver(client: RedfishClient, path: string): BmcDriver {
  let chosen: { path: string; all: string[] } | null = null

  async function readSystem(): Promise<Resource> {
    if (!chosen) {
      const all = path === '' ? await systemPaths(client) : []
      if (path === '' && all.length !== 1)
        throw new RedfishError(
          'INVALID',
          all.length === 0
            ? 'The BMC lists no system.'
            : `The BMC has ${all.length} systems: set the path of the node, one of ${plainText(all.slice(0, 8).join(', '), 400)}.`,
        )
      chosen = { path: path || all[0]!, all }
    }
    return client.get(chosen.path)
  }

  function readingOf(system: Resource): PowerReading {
    const boot = objectOf(system.body.Boot)
    const enabled = boot.BootSourceOverrideEnabled
    const target = (Object.keys(BOOT_DEVICES) as BootDevice[]).find(
      (device) => BOOT_DEVICES[device] === boot.BootSourceOverrideTarget,
    )
    return {
      state: powerStateOf(system),
      lastReset: textOrNull(system.body.LastResetTime, 64),
      bootDevice: enabled === 'Once' ? (target ?? null) : enabled === 'Disabled' ? 'NONE' : null,
      permanentBootDevice: enabled === 'Continuous' ? (target ?? null) : null,
    }
  }

  async function prepareReset(system: Resource, action: Exclude<PowerAction, 'BOOT_ONCE'>) {
    const reset = objectOf(objectOf(system.body.Actions)['#ComputerSystem.Reset'])
    const target = typeof reset.target === 'string' ? reset.target : null
    if (target === null) throw new RedfishError('REFUSED', 'The BMC offers no reset of this system.')
    let allowed = listOf(reset['ResetType@Redfish.AllowableValues']).map(String)
    const info = reset['@Redfish.ActionInfo']
    if (allowed.length === 0 && typeof info === 'string') {
      const parameters = listOf((await client.get(info)).body.Parameters).map(objectOf)
      allowed = listOf(parameters.find(({ Name: name }) => name === 'ResetType')?.AllowableValues).map(String)
    }
    const wanted = RESETS[action]
    const type = allowed.length === 0 ? wanted[0] : wanted.find((each) => allowed.includes(each))
    if (!type)
      throw new RedfishError(
        'REFUSED',
        `The BMC does not support ${wanted.join(' or ')}. It supports ${plainText(allowed.join(', '), 300)}.`,
      )
    return { command: `Reset ${type}`, send: () => client.post(target, { ResetType: type }) }
  }

  function prepareBoot(system: Resource, bootDevice: BootDevice) {
    const value = BOOT_DEVICES[bootDevice]
    const allowed = listOf(objectOf(system.body.Boot)['BootSourceOverrideTarget@Redfish.AllowableValues']).map(String)
    if (allowed.length > 0 && !allowed.includes(value) && value !== 'None')
      throw new RedfishError(
        'REFUSED',
        `The BMC does not support a boot from ${value}. It supports ${plainText(allowed.join(', '), 300)}.`,
      )
    const Boot = {
      BootSourceOverrideEnabled: bootDevice === 'NONE' ? 'Disabled' : 'Once',
      ...(bootDevice === 'NONE' ? {} : { BootSourceOverrideTarget: value }),
    }
    const send = async () => {
      try {
        await client.patch(system, { Boot })
      } catch (error) {
        // Another client changed the system since it was read.
        if (!(error instanceof RedfishError) || error.status !== 412) throw error
        await client.patch(await readSystem(), { Boot })
      }
    }
    return { command: `Boot once ${value}`, send }
  }

  return {
    readPower: async () => readingOf(await readSystem()),
    async prepare(action, bootDevice) {
      const system = await readSystem()
      return action === 'BOOT_ONCE' ? prepareBoot(system, bootDevice ?? 'NONE') : prepareReset(system, action)
    },
    async readDetails() {
      const system = await readSystem()
      const inventory: BmcInventory = { ...(await readInventory(client, system)), systemPaths: chosen!.all }
      return { inventory, sensors: await readSensors(client, system), events: await readEvents(client, system) }
    },
    close: () => client.close(),
  }
}
