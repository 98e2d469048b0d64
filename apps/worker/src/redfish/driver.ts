import type { BmcEvent, BmcInventory, BmcSensor, BootDevice, PowerAction, PowerState } from '@muster/core/power'

/** What a BMC reports of its machine now. */
export type PowerReading = {
  state: PowerState
  /** Time of the last reset as the BMC writes it; null when it does not report it. Another value proves a reset. */
  lastReset: string | null
  /** Device of the next boot; null when it is not known. */
  bootDevice: BootDevice | null
  /** Permanent boot device, which overrides the boot order of the BIOS; null without one. */
  permanentBootDevice: BootDevice | null
}

/** A connection to a BMC, over Redfish or IPMI. Functions throw RedfishError. */
export type BmcDriver = {
  readPower(): Promise<PowerReading>
  /**
   * Chooses the command of the BMC for an action.
   * @returns its name, for the audit log, and a function that sends it
   * @throws RedfishError REFUSED the BMC has no such command
   */
  prepare(action: PowerAction, bootDevice: BootDevice | null): Promise<{ command: string; send: () => Promise<void> }>
  readDetails(): Promise<{ inventory: BmcInventory; sensors: BmcSensor[]; events: BmcEvent[] }>
  close(): Promise<void>
}
