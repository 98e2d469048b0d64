import { afterAll } from 'vitest'
import { type Farm, type FarmOptions, startSshFarm } from './farm.ts'
import { type OwnedLab, startLab } from './start-lab.ts'
import type { LabOptions } from './types.ts'

const running: { down(): Promise<void> }[] = []

// Registered on import, so that createLab and createFarm work in tests, hooks and factories alike.
afterAll(async () => {
  await Promise.all(running.splice(0).map((hosts) => hosts.down()))
})

/** Starts a lab that is stopped after the test file. */
export async function createLab(options: LabOptions = {}): Promise<OwnedLab> {
  const lab = await startLab(options)
  running.push(lab)
  return lab
}

/** Starts a farm that is stopped after the test file. */
export async function createFarm(options: FarmOptions): Promise<Farm> {
  const farm = await startSshFarm(options)
  running.push(farm)
  return farm
}
