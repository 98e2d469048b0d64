export { HardwareAddress, InterfaceAddresses, InterfaceName, Mac, Nid } from './fields.ts'
export { macPattern, parseHardwareAddress, parseMac } from './mac.ts'
export { bmcXname, formatXname, NodeXname, normalizeXname, parseXname, xnameRejections } from './xname.ts'
