import { z } from 'zod'
import { isIpAddress } from '../../kernel/address.ts'
import { singleLineText } from '../../kernel/input.ts'
import { parseHardwareAddress, parseMac } from './mac.ts'

/** IPv4 or IPv6 address without a zone; in lower case. */
export const IpAddress = z.string().trim().toLowerCase().refine(isIpAddress, 'must be an IPv4 or IPv6 address')

/** Node ID of the boot service. */
export const Nid = z
  .number('must be a number')
  .int('must be a whole number')
  .min(0, 'must be 0 to 2147483647')
  .max(2_147_483_647, 'must be 0 to 2147483647')

/** MAC address; normalized. */
export const Mac = z.string().transform((text, issue) => {
  const mac = parseMac(text)
  if (mac) return mac
  issue.addIssue('must be the MAC address of an interface, such as 02:00:5e:10:00:ff')
  return z.NEVER
})

/** MAC address, or hardware address of an InfiniBand interface; normalized. */
export const HardwareAddress = z.string().transform((text, issue) => {
  const address = parseHardwareAddress(text)
  if (address) return address
  issue.addIssue('must be the MAC address of an interface, such as 02:00:5e:10:00:ff, or the 20 bytes of an InfiniBand address')
  return z.NEVER
})

/** Name of an interface, such as `eth0`. */
export const InterfaceName = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,31}$/, 'must have 1 to 32 letters, digits and . _ : @ -')

export const InterfaceAddresses = z
  .array(
    z.strictObject({
      address: IpAddress,
      network: singleLineText(64)
        .nullish()
        .transform((network) => network || null),
    }),
  )
  .max(16, 'at most 16 addresses')

const Interface = z.strictObject({
  name: InterfaceName,
  mac: HardwareAddress,
  isBoot: z
    .boolean()
    .nullish()
    .transform((isBoot) => isBoot ?? false),
  addresses: InterfaceAddresses.nullish().transform((addresses) => addresses ?? []),
})

/** All interfaces of a node: names and MACs differ, and it boots from at most one, which is not InfiniBand. */
export const Interfaces = z
  .array(Interface)
  .max(64, 'at most 64 interfaces')
  .superRefine((interfaces, ctx) => {
    for (const [i, { name, mac, isBoot }] of interfaces.entries()) {
      const before = interfaces.slice(0, i)
      const reject = (field: string, message: string) => ctx.addIssue({ code: 'custom', path: [i, field], message })
      if (before.some((other) => other.name === name)) reject('name', `the name ${name} is given twice`)
      if (before.some((other) => other.mac === mac)) reject('mac', `the MAC ${mac} is given twice`)
      // DHCP servers, BOOTIF and iPXE identify a machine by 6 bytes.
      if (isBoot && !parseMac(mac)) reject('mac', 'a node boots from an interface with a MAC address of 6 bytes')
      if (isBoot && before.some((other) => other.isBoot)) reject('isBoot', 'a node boots from one interface')
    }
  })
