import { type RedfishEmulator, startRedfishEmulator } from '../bmc/redfish-emulator.ts'
import type { Machine } from './machine.ts'

/** The emulated BMC of machines; each is a system, in their order. */
export interface MachineBmc extends Pick<RedfishEmulator, 'port' | 'requests' | 'close'> {
  username: string
  password: string
  /** Path of the machine among the systems of the BMC. */
  systemPath(machine: Machine): string
}

/** Starts an emulated Redfish service that switches the machines on and off. A restart cuts their power. */
export async function startMachineBmc(
  machines: Machine[],
  address: string,
  certificate: { key: string; cert: string },
): Promise<MachineBmc> {
  const [username, password] = ['admin', 'password of lab machines']
  const emulator = await startRedfishEmulator({
    certificate,
    address,
    username,
    password,
    systems: machines.length,
    async onPower({ id }, isOn) {
      const machine = machines[Number(id) - 1]!
      await machine.off()
      if (isOn) machine.on()
    },
  })
  for (const [i, { mac, serial, uuid }] of machines.entries()) Object.assign(emulator.systems[i]!, { macs: [mac], serial, uuid })
  const { port, requests, close } = emulator
  return {
    port,
    requests,
    close,
    username,
    password,
    systemPath: (machine) => `/redfish/v1/Systems/${machines.indexOf(machine) + 1}`,
  }
}
