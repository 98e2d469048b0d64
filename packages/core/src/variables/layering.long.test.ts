import { test } from 'vitest'
import { referenceLayering } from '../testing/reference-layering.ts'
import { testRuntime } from '../testing/runtime.ts'

test('effective variables of 10,000 random trees equal those of the reference implementation', { timeout: 900_000 }, async () => {
  const t = await testRuntime()
  await referenceLayering(t, 100)
  await t.close()
})
