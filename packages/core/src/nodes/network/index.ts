export { InterfaceAddresses, InterfaceName, Mac, Nid } from './fields.ts'
export { macPattern, parseMac } from './mac.ts'
export { bmcXname, formatXname, NodeXname, normalizeXname, parseXname, xnameRejections } from './xname.ts'
