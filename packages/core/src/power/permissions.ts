import { definePermissions, type Permission } from '../kernel/permissions.ts'
import type { PowerAction } from './tables.ts'

export const powerPermissions = definePermissions('power', {
  on: ['operator', 'Power nodes on through their BMCs.', 'perNode'],
  off: ['operator', 'Shut nodes down and restart them through their BMCs; the operating system stops first.', 'perNode'],
  force: ['admin', 'Power nodes off and cycle them without a shutdown, and send NMIs.', 'perNode'],
  boot: ['operator', 'Choose the device from which nodes boot next.', 'perNode'],
  override: ['admin', 'Stop nodes with running SlurmJobs or locks.', 'perNode'],
  read: ['operator', 'Read power state, inventory, sensors and events from BMCs of nodes.', 'perNode'],
  report: ['worker', 'Record what BMCs report, and the progress of power runs.'],
  schedule: ['system', 'Enqueue readings of BMCs and work of lost workers, and delete old power runs.'],
})

export const bmcPermissions = definePermissions('bmc', {
  discover: ['admin', 'Search address ranges for BMCs.'],
})

const PERMISSIONS: Record<PowerAction, Permission> = {
  ON: powerPermissions.on,
  OFF: powerPermissions.off,
  FORCE_OFF: powerPermissions.force,
  RESTART: powerPermissions.off,
  CYCLE: powerPermissions.force,
  NMI: powerPermissions.force,
  BOOT_ONCE: powerPermissions.boot,
}

/** The permission of an action; that of powering on for anything that is none, which the input's check then refuses. */
export const powerActionPermission = (action: unknown): Permission => PERMISSIONS[action as PowerAction] ?? powerPermissions.on
