import { z } from 'zod'
import { isIpAddress } from '../../kernel/address.ts'

/** IPv4 or IPv6 address without a zone; in lower case. */
export const IpAddress = z.string().trim().toLowerCase().refine(isIpAddress, 'must be an IPv4 or IPv6 address')

/** Node ID of the boot service. */
export const Nid = z
  .number('must be a number')
  .int('must be a whole number')
  .min(0, 'must be 0 to 2147483647')
  .max(2_147_483_647, 'must be 0 to 2147483647')
