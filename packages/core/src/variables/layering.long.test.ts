import { test } from 'vitest'
import { referenceLayering } from '../testing/reference-layering.ts'
import { testRuntime } from '../testing/runtime.ts'

test('what holds on the nodes of 10,000 random trees is what the reference says', { timeout: 900_000 }, async () => {
  const t = await testRuntime()
  await referenceLayering(t, 100)
  await t.close()
})
