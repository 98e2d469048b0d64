import { machinesBlockedReason } from '@muster/lab'
import { expect, test } from 'vitest'
import { bootJob, EXPECTED } from './boot-job.ts'
import { startBootProduct } from './boot-product.ts'

const blocked = machinesBlockedReason()

test.skipIf(blocked)('machines of qemu boot from the network, phone home, and boot a changed profile', async () => {
  await using product = await startBootProduct()
  const lines: string[] = []
  const figures = await bootJob(product.api, product, (line) => lines.push(line)).catch((error: Error) => {
    throw new Error(`${error.message}\n${lines.join('\n')}\n${product.machines.dhcpLog().slice(-2000)}`)
  })
  expect(figures).toEqual(EXPECTED)
})
