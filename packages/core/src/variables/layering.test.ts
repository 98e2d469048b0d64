import { test } from 'vitest'
import { referenceLayering } from '../testing/reference-layering.ts'
import { testRuntime } from '../testing/runtime.ts'

test('effective variables of 100 random trees equal those of the reference implementation', async () => {
  const t = await testRuntime()
  await referenceLayering(t, 1)
  await t.close()
})
