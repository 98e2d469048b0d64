import { afterAll } from 'vitest'
import { type Farm, type FarmOptions, sshFarm } from './farm.ts'
import type { LabOptions } from './types.ts'
import { labUp, type OwnedLab } from './up.ts'

const open: { down(): Promise<void> }[] = []

// Importing this file is what registers the clean-up, so `given` may be called from a test, a hook or a factory alike.
afterAll(async () => {
  await Promise.all(open.splice(0).map((one) => one.down()))
})

/** Hosts for a test file; they are gone when the file's tests are. */
export const given = {
  async lab(options: LabOptions = {}): Promise<OwnedLab> {
    const lab = await labUp(options)
    open.push(lab)
    return lab
  },
  async farm(options: FarmOptions): Promise<Farm> {
    const farm = await sshFarm(options)
    open.push(farm)
    return farm
  },
}
