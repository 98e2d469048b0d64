import { VENDOR_NAMES } from '@muster/discovery'
import { type InputIssue, InvalidInput } from '../kernel/errors.ts'

/** Names of the accelerator vendors that filters accept. */
export const VENDORS = VENDOR_NAMES

/** The vendor with this name in any case; undefined for an unknown one. */
export const findVendor = (name: string): string | undefined => VENDORS.find((vendor) => vendor === name.trim().toLowerCase())

/** The message for an unknown vendor. */
export const unknownVendor = (name: string): string => `there is no vendor ${name.slice(0, 80)}; there are ${VENDORS.join(', ')}`

/** Vendors by names in any case. @throws InvalidInput at `path` naming the unknown and the allowed vendors */
export function parseVendors(names: readonly string[], path: string): string[] {
  const issues: InputIssue[] = []
  const vendors = names.map((name, i) => {
    const vendor = findVendor(name)
    if (!vendor) issues.push({ path: `${path}.${i}`, message: unknownVendor(name) })
    return vendor ?? name
  })
  if (issues.length > 0) throw new InvalidInput(issues)
  return vendors
}
