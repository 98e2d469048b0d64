export { parseMac } from './mac.ts'
export { bmcXname, formatXname, normalizeXname, parseXname, xnameRejections } from './xname.ts'
