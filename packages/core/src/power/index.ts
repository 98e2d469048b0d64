export { bmcPermissions, powerPermissions } from './permissions.ts'
export { type NodePower, powerStates } from './power-states.ts'
export {
  type BmcEvent,
  type BmcInventory,
  type BmcSensor,
  BOOT_TARGETS,
  type BootTarget,
  POWER_ACTIONS,
  POWER_STATES,
  type PowerAction,
  type PowerState,
} from './tables.ts'
