import type { Ctx } from '@muster/core/context'
import {
  type ClaimedTarget,
  compare,
  type Difference,
  readBootIntent,
  readInventoryIntent,
  recordOpenchamiPush,
} from '@muster/core/openchami'
import { type Connection, readBss, readSmd } from './remote.ts'
import { type Services, write } from './write.ts'

/**
 * Compares the tenant with its target. In the mode PUSH it then writes what is missing or different, and compares again.
 * @param onWritten called with the number of objects after each write
 * @throws DeliveryError, TargetError, DomainError
 */
export async function checkTarget(
  ctx: Ctx,
  claimed: ClaimedTarget,
  to: Connection,
  onWritten: (count: number) => void,
): Promise<Difference[]> {
  const services: Services = { smd: claimed.target.smdUrl, bss: claimed.target.bssUrl }
  const { ours, differences } = await read(ctx, services, to)
  const wanted = differences.filter(({ state }) => state !== 'EXTRA')
  if (claimed.mode === 'REPORT' || wanted.length === 0) return differences
  await recordOpenchamiPush(ctx, claimed, wanted)
  await write(to, services, wanted, ours, onWritten)
  return (await read(ctx, services, to)).differences
}

async function read(ctx: Ctx, { smd, bss }: Services, to: Connection) {
  const ours = new Map([...(smd ? await readInventoryIntent(ctx) : []), ...(bss ? await readBootIntent(ctx) : [])])
  const theirs = new Map([...(smd ? await readSmd(to, smd) : []), ...(bss ? await readBss(to, bss) : [])])
  return { ours, differences: compare(ours, theirs) }
}
